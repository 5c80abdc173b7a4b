import type { Knex } from 'knex';
import type { Gate } from '@vision/shared/async/gate';
import type { Logger } from '@vision/shared/logger';
import type { EventProducer } from '@vision/kafka/producer';
import type { SecretBox } from '@vision/shared/secret-box';
import type { StatusReader } from '@vision/shared/status/status';
import type { VideoFiles } from '../clients/video-files.ts';
import type { LiveSettings } from '../decoding/live-frames.ts';
import type { Detectors } from '../detectors/detectors.ts';
import type { FrameMemory } from '../domain/frame-memory.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import type { openLiveInput } from '../readers/open-live-input.ts';
import type { SourceAddresses } from '../readers/source-addresses.ts';
import type { DropCounts } from './drop-counts.ts';
import type { FrameGathering } from './frame-gathering.ts';
import type { LiveCosts } from './live-costs.ts';
import type { LiveSnapshots, SnapshotWaits } from './live-snapshots.ts';
import type { ProgressNotes } from './progress-notes.ts';
import type { ImageDecoder } from '../images/create-image-decoder.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Signals } from '../signals.ts';
import type { SourceReports } from './source-reports.ts';
import type { TrackSnapshots } from './track-snapshots.ts';

/** Dependencies of all use cases and jobs; each names the few it needs. */
export interface Deps {
  db: Knex;
  logger: Logger;
  signals: Signals;
  detectors: Detectors;
  /** Decodes the images of requests. */
  imageDecoder: ImageDecoder;
  /** Runs the processes that decode videos. */
  sandbox: Sandbox;
  /** Slots for requests with an image, from the first byte of the body to the response. */
  requestGate: Gate;
  /** Ordinary images from decoding to detections, expensive ones after decoding; with fair queueing of owners. */
  detectionGate: Gate;
  /** Maximum time until the response for an image, including the time in the queue. */
  imageAnswerMs: number;
  box: SecretBox;
  addresses: SourceAddresses;
  /** Certificates to trust for https streams instead of the system's. */
  certificates: string | undefined;
  files: VideoFiles;
  producer: EventProducer;
  /** Processor time of live streams on this worker. */
  liveCosts: LiveCosts;
  /** The newest frames of live streams, while clients request them. */
  liveSnapshots: LiveSnapshots;
  snapshotWaits: SnapshotWaits;
  /** Images of the tracks of jobs with snapshots. */
  trackSnapshots: TrackSnapshots;
  /** Memory for frames that wait for Kafka. */
  frameMemory: FrameMemory;
  /** Gathering of this worker's frames into segments, if enabled. */
  frameGathering: FrameGathering | undefined;
  /** Numbers of frames that were read and could not be published. */
  drops: DropCounts;
  /** Slots for stream probes, from the first connection until their processes have ended. */
  probeGate: Gate;
  openLiveInput: typeof openLiveInput;
  encodeJpeg: (image: RgbImage) => Promise<Buffer>;
  /** Publishes the state changes of the sources of jobs. */
  sourceReports: SourceReports;
  /** Progress of jobs that is not stored yet. */
  progress: ProgressNotes;
  /** Makes the worker poll at once, because a job was stored or must stop. */
  wakeWorker: () => void;
  /** Status of this process, for operators. */
  status: StatusReader;
  settings: Settings;
}

/** Dependencies of detection in single images, which are available without a database. */
export type ImageDeps = Pick<
  Deps,
  'logger' | 'signals' | 'detectors' | 'imageDecoder' | 'sandbox' | 'requestGate' | 'detectionGate' | 'imageAnswerMs'
>;

/** Settings of video jobs. */
export interface Settings {
  /** Bucket of the uploaded videos. */
  bucket: string;
  /** Maximum time for inspecting an uploaded file before a job is accepted. */
  fileLookMs: number;
  /** Maximum time that ffmpeg may take for one sample of a file. */
  fileNoFrameMs: number;
  /** Maximum wait for a connection to a live source, and for each response of a handshake. */
  sourceOpenMs: number;
  /** Time for a reader to close, before it is killed. */
  sourceLeaveMs: number;
  live: LiveSettings;
  /** Longest side of a frame of a live source, for every detector. */
  decodeMaxSide: number;
  /** Longest side of a snapshot. */
  snapshotMaxSide: number;
  /** First pause when local space or a process is missing for a file; later pauses grow. */
  shortageRetryMs: number;
  /** Time between connections to a live stream that has been unavailable for long. */
  reopenMs: number;
  /** Number of frames of one file in detection at a time. */
  framesAtOnce: number;
  jobsPerWorker: number;
  /** Maximum number of live streams among them; 0 for as many as can be computed. */
  liveJobsPerWorker: number;
  leaseMs: number;
  /** This long before its lease expires, a worker that could not renew it yields a job. */
  leaseMarginMs: number;
  /** Frame numbers that a live job reserves at a time. */
  seqStep: number;
  /** Maximum wait for more of them, before frames are dropped. */
  seqWaitMs: number;
  /** Interval between polls for work. */
  pollMs: number;
  /** Retention of ended jobs: until then stops remain effective and repeated requests are recognised. */
  keepDays: number;
  /** The slots of a worker without a report for longer do not count. */
  workerSeenMs: number;
  /** Minimum age of a difference that an audit reports. */
  auditAgeMs: number;
}
