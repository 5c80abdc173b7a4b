import { topics } from '@vision/contracts/topics';
import { TRACK_SNAPSHOT_PREFIX, TRACK_SNAPSHOTS } from '@vision/contracts/track-snapshots';
import { createAuditor } from '@vision/shared/audit/auditor';
import { createWakeUp } from '@vision/shared/async/wake-up';
import { createGate } from '@vision/shared/async/gate';
import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import { createDb } from '@vision/shared/db/knex';
import { databaseConnection } from '@vision/shared/db/database-config';
import { databaseCheck } from '@vision/shared/db/migrate';
import { standbyCheck } from '@vision/shared/db/standby-check';
import { createKafka } from '@vision/kafka/kafka';
import { kafkaCheck } from '@vision/kafka/kafka-check';
import { kafkaConnection } from '@vision/kafka/kafka-config';
import { createProducer } from '@vision/kafka/producer';
import { createStreamPolicy } from '@vision/streams/stream-rules';
import { streamCertificates } from '@vision/streams/stream-certificates';
import { bucketCheck } from '@vision/objects/check-bucket';
import { createObjectStore } from '@vision/objects/object-store';
import type { ObjectStore } from '@vision/objects/object-store';
import { objectStoreOptions } from '@vision/objects/object-store-config';
import { createOwnPrefix } from '@vision/objects/own-prefix';
import type { StartCheck } from '@vision/shared/start/start-checks';
import { createCensus } from '@vision/shared/async/census';
import { createSecretBox } from '@vision/shared/secret-box';
import { usableCores } from './sandbox/usable-cores.ts';
import { createVideoFiles } from './clients/video-files.ts';
import type { VideoFiles } from './clients/video-files.ts';
import type { VideoConfig } from './config.ts';
import { countUnheld } from './db/jobs.ts';
import { migrations } from './db/migrations/list.ts';
import { encodeJpeg, encodePart } from './detectors/encode-jpeg.ts';
import { LIVE_DEFAULTS } from './decoding/live-frames.ts';
import { restMsOf } from './domain/shortage.ts';
import { openLiveInput } from './readers/open-live-input.ts';
import { createSourceAddresses } from './readers/source-addresses.ts';
import { createStatus } from './status.ts';
import { createDropCounts } from './use-cases/drop-counts.ts';
import { createFrameGathering } from './use-cases/frame-gathering.ts';
import { createSegmentReaders } from './use-cases/segment-readers.ts';
import type { SegmentReaders } from './use-cases/segment-readers.ts';
import { createFrameMemory } from './domain/frame-memory.ts';
import { REMOVED_AFTER_MS } from './domain/snapshot-times.ts';
import { createSourceReports } from './use-cases/source-reports.ts';
import { createWorker } from './jobs/worker.ts';
import { lowerPriority } from './sandbox/lower-priority.ts';
import { processorTimeByGroup, processorWaitByGroup } from './sandbox/processor-time.ts';
import { auditJobs } from './use-cases/audit-jobs.ts';
import type { Deps, ImageDeps, Settings } from './use-cases/deps.ts';
import { createLiveSnapshots } from './use-cases/live-snapshots.ts';
import { createProgressNotes } from './use-cases/progress-notes.ts';
import { createLiveCosts } from './use-cases/live-costs.ts';
import { createTrackSnapshots } from './use-cases/track-snapshots.ts';

// Detection runs in threads; a job has a frame for each thread and one in reserve.
const FRAMES_IN_RESERVE = 1;
const COSTS_EVERY_MS = 5_000;
/** Of the decoder of a live stream that takes too much of a core: that of the decoder of a file. */
const HEAVY_NICENESS = 10;
const SPACE_EVERY_MS = 5_000;
const REPORTS_EVERY_MS = 500;

/** The part of the service that runs video jobs. */
export interface VideoJobs {
  deps: Deps;
  /** Checks that must succeed once before the service is ready. */
  checks: StartCheck[];
  isReady: () => boolean;
  start: () => Promise<void>;
  /** Yields the jobs to other workers. */
  stopWorker: () => Promise<void>;
  stopClients: () => Promise<void>;
}

/** Builds the stores, sources and the worker of video jobs; detection is shared with images. */
export function createVideoJobs(config: VideoConfig, images: ImageDeps, threads: number): VideoJobs {
  const { logger, signals } = images;
  const database = databaseConnection(config);
  const db = createDb({ ...database, applicationName: 'inference' });
  const kafka = createKafka({ ...kafkaConnection(config), clientId: 'inference', logger });
  const producer = createProducer(kafka);
  const store = createObjectStore(objectStoreOptions(config));
  const files = videoFilesOf(config, store);
  signals.workDirWatched(files.usage);
  const readers = config.SEGMENT_LINGER_MS > 0 ? createSegmentReaders(kafka, images) : undefined;
  const wakeUps = { polls: createWakeUp(), renewals: createWakeUp() };
  const deps: Deps = {
    ...images,
    db,
    producer,
    files,
    box: createSecretBox(config.STREAM_URL_KEY),
    addresses: createSourceAddresses(createStreamPolicy(config), { deadlineMs: config.SOURCE_OPEN_MS }),
    certificates: streamCertificates(config.STREAM_CA_FILE),
    liveCosts: liveCostsOf(config, images.detectors),
    ...reportsOf({ db, signals, store, producer: createProducer(kafka) }),
    ...framesOf(config, { signals, producer, readers }),
    drops: createDropCounts(db),
    ...streamProbesOf(config),
    progress: createProgressNotes(),
    wakeWorker: () => {
      wakeUps.polls.wake();
      wakeUps.renewals.wake();
    },
    status: createStatus({ db, kafka, store }),
    settings: settingsOf(config, threads),
  };
  const worker = createWorker(deps, wakeUps);
  const background = backgroundOf(deps, config, readers);
  return {
    deps,
    checks: [
      databaseCheck(db, database, migrations),
      standbyCheck(db, config),
      kafkaCheck(config, { consumes: [], publishes: [topics.frames] }),
      bucketCheck(objectStoreOptions(config), ['read']),
    ],
    isReady: worker.isReported,
    start: async () => {
      await files.start();
      reportSlots(config, deps);
      worker.start();
      background.forEach((part) => part.start());
    },
    stopWorker: () => worker.stop(),
    stopClients: async () => {
      await Promise.all(background.map((part) => part.stop()));
      await Promise.all([producer.stop(), deps.trackSnapshots.stop(), deps.liveSnapshots.stop()]);
      await deps.sourceReports.stop();
      await files.stop();
      store.close();
      await db.destroy();
    },
  };
}

/** Background tasks beside the worker. */
function backgroundOf(deps: Deps, config: VideoConfig, readers: SegmentReaders | undefined) {
  const { db, logger, signals } = deps;
  const census = createCensus({ name: 'census', ask: () => countUnheld(db), show: signals.jobsUnheld, logger });
  const auditor = createAuditor({ db, logger, audits: [auditJobs(deps)], config });
  const pollers = [costsPoller(deps), spacePoller(deps), reportsPoller(deps)];
  return [auditor, census, ...pollers, ...(readers ? [readers.poller] : [])];
}

function videoFilesOf(config: VideoConfig, store: ObjectStore): VideoFiles {
  return createVideoFiles({
    store,
    directory: config.WORK_DIR,
    maxBytes: config.FILE_MAX_BYTES,
    maxTotalBytes: config.WORK_DIR_MAX_BYTES,
    restMs: restMsOf(config.SHORTAGE_RETRY_MS),
    keepMs: 30_000,
  });
}

type ReportParts = Pick<Deps, 'db' | 'producer' | 'signals'> & { store: ObjectStore };

/** Events other than frames; they have a producer of their own, because a slow broker must not hold up frames. */
function reportsOf(
  parts: ReportParts,
): Pick<Deps, 'liveSnapshots' | 'snapshotWaits' | 'sourceReports' | 'trackSnapshots'> {
  const ownPrefix = createOwnPrefix({ db: parts.db, name: TRACK_SNAPSHOTS, prefix: TRACK_SNAPSHOT_PREFIX });
  return {
    liveSnapshots: createLiveSnapshots({ ...parts, encode: encodeJpeg, removedAfterMs: REMOVED_AFTER_MS }),
    snapshotWaits: new Map(),
    sourceReports: createSourceReports(parts),
    trackSnapshots: createTrackSnapshots({ ...parts, ownPrefix, encode: encodePart }),
  };
}

type FrameParts = Pick<Deps, 'producer' | 'signals'> & { readers: SegmentReaders | undefined };

/** Publishing of frames: the memory for waiting frames, and their batching into segments. */
function framesOf(
  config: VideoConfig,
  { signals, producer, readers }: FrameParts,
): Pick<Deps, 'frameGathering' | 'frameMemory'> {
  const memory = createFrameMemory({
    jobBytes: config.UNSENT_FRAMES_JOB_MAX_BYTES,
    workerBytes: config.UNSENT_FRAMES_MAX_BYTES,
  });
  signals.frameMemoryWatched(memory.usedBytes);
  const gathering = { producer, lingerMs: config.SEGMENT_LINGER_MS };
  return {
    frameMemory: memory,
    frameGathering: readers && createFrameGathering({ ...gathering, isOn: readers.areReady }),
  };
}

function streamProbesOf({
  STREAM_PROBES_PER_WORKER: concurrency,
}: VideoConfig): Pick<Deps, 'probeGate' | 'openLiveInput' | 'encodeJpeg'> {
  return { probeGate: createGate({ concurrency, queue: 0, leavesRoom: true }), openLiveInput, encodeJpeg };
}

function liveCostsOf(config: VideoConfig, detectors: Deps['detectors']): Deps['liveCosts'] {
  return createLiveCosts({
    cores: usableCores(),
    fps: config.SAMPLE_FPS,
    decoderTimes: processorTimeByGroup,
    decoderWaits: processorWaitByGroup,
    heavyCores: config.HEAVY_DECODER_CORES,
    lowerDecoder: (group) => lowerPriority(group, HEAVY_NICENESS),
    expectedDetectMs: () => detectors.expectedMs(),
  });
}

function costsPoller({ liveCosts, logger }: Pick<Deps, 'liveCosts' | 'logger'>): Poller {
  const run = async () => {
    liveCosts.measure();
    return 0;
  };
  return createPoller({ name: 'live-costs', intervalMs: COSTS_EVERY_MS, run, logger });
}

/** Reports when the space for copies of videos allows fewer of them than there are slots. */
function reportSlots(config: VideoConfig, { files, signals }: Pick<Deps, 'files' | 'signals'>): void {
  const [slots, { limitBytes }] = [files.slots(), files.usage()];
  if (slots >= config.JOBS_PER_WORKER) return;
  signals.fileSlotsLowered({ slots, limitBytes, fileMaxBytes: config.FILE_MAX_BYTES });
}

function spacePoller({ files, logger }: Pick<Deps, 'files' | 'logger'>): Poller {
  const run = async () => {
    await files.measure();
    return 0;
  };
  return createPoller({ name: 'work-dir', intervalMs: SPACE_EVERY_MS, run, logger });
}

function reportsPoller({ sourceReports, logger }: Pick<Deps, 'sourceReports' | 'logger'>): Poller {
  const run = async () => {
    sourceReports.poll();
    return 0;
  };
  return createPoller({ name: 'source-reports', intervalMs: REPORTS_EVERY_MS, run, logger });
}

/** A reader closes its session within 500 ms. */
const SOURCE_LEAVE_MS = 1500;

/** The settings of video jobs by their names in the code. */
function settingsOf(config: VideoConfig, detectionThreads: number): Settings {
  return {
    bucket: config.S3_BUCKET,
    fileLookMs: config.FILE_LOOK_MS,
    fileNoFrameMs: config.FILE_NO_FRAME_MS,
    sourceOpenMs: config.SOURCE_OPEN_MS,
    sourceLeaveMs: SOURCE_LEAVE_MS,
    live: {
      ...LIVE_DEFAULTS,
      sampling: { ...LIVE_DEFAULTS.sampling, fps: config.SAMPLE_FPS },
      noFrameMs: config.SOURCE_NO_FRAME_MS,
      giveUpMs: config.SOURCE_GIVE_UP_MS,
      parkMs: config.SOURCE_PARK_MS,
      backoff: { minMs: config.SOURCE_BACKOFF_MIN_MS, maxMs: config.SOURCE_BACKOFF_MAX_MS },
      killGraceMs: config.FFMPEG_KILL_GRACE_MS,
    },
    decodeMaxSide: config.DECODE_MAX_SIDE,
    snapshotMaxSide: config.SNAPSHOT_MAX_SIDE,
    shortageRetryMs: config.SHORTAGE_RETRY_MS,
    reopenMs: config.SOURCE_REOPEN_MS,
    framesAtOnce: detectionThreads + FRAMES_IN_RESERVE,
    jobsPerWorker: config.JOBS_PER_WORKER,
    liveJobsPerWorker: config.LIVE_JOBS_PER_WORKER,
    leaseMs: config.JOB_LEASE_MS,
    leaseMarginMs: config.JOB_LEASE_MARGIN_MS,
    seqStep: config.JOB_SEQ_STEP,
    seqWaitMs: config.JOB_SEQ_WAIT_MS,
    pollMs: config.JOB_POLL_MS,
    keepDays: config.JOB_KEEP_DAYS,
    workerSeenMs: 2 * config.JOB_LEASE_MS,
    auditAgeMs: config.AUDIT_AGE_MS,
  };
}
