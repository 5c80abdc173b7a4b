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

/** Everything that use cases and jobs work with; each names the few it needs. */
export interface Deps {
  db: Knex;
  logger: Logger;
  signals: Signals;
  detectors: Detectors;
  /** Decodes the images of requests. */
  imageDecoder: ImageDecoder;
  /** Runs what decodes videos. */
  sandbox: Sandbox;
  /** Places for requests with an image, from the first byte of the body to the answer. */
  requestGate: Gate;
  /** Ordinary images from decoding to detections, and expensive ones once they are decoded; owners take turns. */
  detectionGate: Gate;
  /** Longest time until an image is answered, waiting included. */
  imageAnswerMs: number;
  box: SecretBox;
  addresses: SourceAddresses;
  /** Certificates to trust for https streams instead of the system's. */
  certificates: string | undefined;
  files: VideoFiles;
  producer: EventProducer;
  /** What live streams cost this worker. */
  liveCosts: LiveCosts;
  /** The newest frames of live streams, while somebody asks for them. */
  liveSnapshots: LiveSnapshots;
  snapshotWaits: SnapshotWaits;
  /** Images of the tracks of jobs with snapshots. */
  trackSnapshots: TrackSnapshots;
  /** For frames that wait for Kafka. */
  frameMemory: FrameMemory;
  /** Where frames of this worker may travel in segments. */
  frameGathering: FrameGathering | undefined;
  /** Frames that were read and could not be published. */
  drops: DropCounts;
  /** Slots for stream probes, from the first connection until their processes are gone. */
  probeGate: Gate;
  openLiveInput: typeof openLiveInput;
  encodeJpeg: (image: RgbImage) => Promise<Buffer>;
  /** Publishes what the sources of jobs do. */
  sourceReports: SourceReports;
  /** How far jobs are, until it is stored. */
  progress: ProgressNotes;
  /** A job was stored or is to stop: the worker looks at once. */
  wakeWorker: () => void;
  /** How this process stands, for operators. */
  status: StatusReader;
  settings: Settings;
}

/** What detection in single images works with: all that is there without a database. */
export type ImageDeps = Pick<
  Deps,
  'logger' | 'signals' | 'detectors' | 'imageDecoder' | 'sandbox' | 'requestGate' | 'detectionGate' | 'imageAnswerMs'
>;

/** Settings of video jobs. */
export interface Settings {
  /** Bucket of the uploaded videos. */
  bucket: string;
  /** Longest look at an uploaded file before a job is accepted. */
  fileLookMs: number;
  /** Longest time ffmpeg may work on one sample of a file. */
  fileNoFrameMs: number;
  /** Longest wait for a connection to a live source, and for each answer of a handshake. */
  sourceOpenMs: number;
  /** Time for a reader to leave, before it is killed. */
  sourceLeaveMs: number;
  live: LiveSettings;
  /** Longest side of a frame of a live source, for every detector. */
  decodeMaxSide: number;
  /** Longest side of a snapshot. */
  snapshotMaxSide: number;
  /** First pause of an attempt at a file that lacks local space or a process; the next ones grow. */
  shortageRetryMs: number;
  /** Until a live stream that is away for long is connected to again. */
  reopenMs: number;
  /** Frames of one file that are detected at once. */
  framesAtOnce: number;
  jobsPerWorker: number;
  /** Live streams among them; 0 for as many as can be computed. */
  liveJobsPerWorker: number;
  leaseMs: number;
  /** This long before its lease ends, a worker that could not renew it puts a job down. */
  leaseMarginMs: number;
  /** Frame numbers that a live job reserves at a time. */
  seqStep: number;
  /** Longest wait for more of them, before frames are dropped. */
  seqWaitMs: number;
  /** Between two looks for work. */
  pollMs: number;
  /** How long ended jobs are remembered, so that stops stick and repeats are recognised. */
  keepDays: number;
  /** A worker that was silent for longer has no places to give. */
  workerSeenMs: number;
  /** Age at which a difference that an audit found counts. */
  auditAgeMs: number;
}
