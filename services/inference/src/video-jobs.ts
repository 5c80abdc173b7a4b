import { topics } from '@vision/shared/contracts/topics';
import { createAuditor } from '@vision/shared/audit/auditor';
import { createBell } from '@vision/shared/async/bell';
import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import { createDb } from '@vision/shared/db/knex';
import { databaseConnection } from '@vision/shared/db/database-config';
import { databaseCheck } from '@vision/shared/db/migrate';
import { createKafka } from '@vision/shared/messaging/kafka';
import { kafkaCheck } from '@vision/shared/messaging/kafka-check';
import { kafkaConnection } from '@vision/shared/messaging/kafka-config';
import { createProducer } from '@vision/shared/messaging/producer';
import { createStreamPolicy } from '@vision/shared/net/stream-rules';
import { streamCertificates } from '@vision/shared/net/stream-certificates';
import { bucketCheck } from '@vision/shared/object-store/check-bucket';
import { createObjectStore } from '@vision/shared/object-store/object-store';
import { objectStoreOptions } from '@vision/shared/object-store/object-store-config';
import type { StartCheck } from '@vision/shared/start/start-checks';
import { createCensus } from '@vision/shared/telemetry/census';
import { createSecretBox } from '@vision/shared/secret-box';
import { usableCores } from '@vision/shared/usable-cores';
import { createVideoFiles } from './clients/video-files.ts';
import type { VideoConfig } from './config.ts';
import { countUnowned } from './db/jobs.ts';
import { migrations } from './db/migrations/list.ts';
import { LIVE_DEFAULTS } from './decoding/live-frames.ts';
import { createSourceAddresses } from './inputs/source-addresses.ts';
import { createStatus } from './status.ts';
import { createDropCounts } from './use-cases/drop-counts.ts';
import { createWorker } from './jobs/worker.ts';
import { processorTimeByGroup } from './sandbox/processor-time.ts';
import { auditJobs } from './use-cases/audit-jobs.ts';
import type { Deps, PictureDeps, Settings } from './use-cases/deps.ts';
import { createProgressNotes } from './use-cases/progress-notes.ts';
import { createLiveCosts } from './use-cases/live-costs.ts';

// Detection runs in threads; a job keeps each of them supplied and one frame in reserve.
const FRAMES_IN_RESERVE = 1;
const COSTS_EVERY_MS = 5_000;

/** The part of the service that runs video jobs. */
export interface VideoJobs {
  deps: Deps;
  /** What has to be right once before the service is ready. */
  checks: StartCheck[];
  isReady: () => boolean;
  start: () => Promise<void>;
  /** Puts the jobs down for other workers. */
  stopWorker: () => Promise<void>;
  stopClients: () => Promise<void>;
}

/** Stores, sources and the worker of video jobs, beside what detects in pictures. */
export function createVideoJobs(config: VideoConfig, pictures: PictureDeps, threads: number): VideoJobs {
  const { logger, signals } = pictures;
  const database = databaseConnection(config);
  const db = createDb({ ...database, applicationName: 'inference' });
  const kafka = createKafka({ ...kafkaConnection(config), clientId: 'inference', logger });
  const producer = createProducer(kafka);
  const store = createObjectStore(objectStoreOptions(config));
  const files = createVideoFiles({
    store,
    directory: config.WORK_DIR,
    maxBytes: config.FILE_MAX_BYTES,
    keepMs: 30_000,
  });
  const policy = createStreamPolicy(config);
  const bells = { looks: createBell(), renewals: createBell() };
  const deps: Deps = {
    ...pictures,
    db,
    producer,
    files,
    box: createSecretBox(config.STREAM_URL_KEY),
    addresses: createSourceAddresses(policy, { deadlineMs: config.SOURCE_OPEN_MS }),
    certificates: streamCertificates(config.STREAM_CA_FILE),
    liveCosts: liveCostsOf(config, pictures.detectors),
    drops: createDropCounts(db),
    progress: createProgressNotes(),
    wakeWorker: () => {
      bells.looks.ring();
      bells.renewals.ring();
    },
    status: createStatus({ db, kafka, store }),
    settings: settingsOf(config, threads),
  };
  const worker = createWorker(deps, bells);
  const census = createCensus({ name: 'census', ask: () => countUnowned(db), show: signals.jobsUnowned, logger });
  const auditor = createAuditor({ db, logger, audits: [auditJobs(deps)], config });
  const background = [auditor, census, costsPoller(deps)];
  return {
    deps,
    checks: [
      databaseCheck(db, database, migrations),
      kafkaCheck(config, { consumes: [], publishes: [topics.frames] }),
      bucketCheck(objectStoreOptions(config)),
    ],
    isReady: worker.isReported,
    start: async () => {
      await files.start();
      worker.start();
      background.forEach((part) => part.start());
    },
    stopWorker: () => worker.stop(),
    stopClients: async () => {
      await Promise.all(background.map((part) => part.stop()));
      await producer.stop();
      await files.stop();
      store.close();
      await db.destroy();
    },
  };
}

function liveCostsOf(config: VideoConfig, detectors: Deps['detectors']): Deps['liveCosts'] {
  return createLiveCosts({
    cores: usableCores(),
    fps: config.SAMPLE_FPS,
    decoderTimes: processorTimeByGroup,
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

/** The settings of video jobs by their names in the code. */
function settingsOf(config: VideoConfig, detectionThreads: number): Settings {
  return {
    bucket: config.S3_BUCKET,
    fileLookMs: config.FILE_LOOK_MS,
    fileNoFrameMs: config.FILE_NO_FRAME_MS,
    sourceOpenMs: config.SOURCE_OPEN_MS,
    live: {
      ...LIVE_DEFAULTS,
      sampling: { ...LIVE_DEFAULTS.sampling, fps: config.SAMPLE_FPS },
      noFrameMs: config.SOURCE_NO_FRAME_MS,
      giveUpMs: config.SOURCE_GIVE_UP_MS,
      backoff: { minMs: config.SOURCE_BACKOFF_MIN_MS, maxMs: config.SOURCE_BACKOFF_MAX_MS },
      killGraceMs: config.FFMPEG_KILL_GRACE_MS,
    },
    decodeMaxSide: config.DECODE_MAX_SIDE,
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
