import { createDb } from '@vision/shared/db/knex';
import { schemaReadiness } from '@vision/shared/db/migrate';
import type { Logger } from '@vision/shared/logger';
import { createKafka } from '@vision/shared/messaging/kafka';
import { createProducer } from '@vision/shared/messaging/producer';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { streamCertificates } from '@vision/shared/net/stream-certificates';
import { createObjectStore } from '@vision/shared/object-store/object-store';
import type { StopPhase } from '@vision/shared/run';
import { createSecretBox } from '@vision/shared/secret-box';
import { createVideoFiles } from '../clients/video-files.ts';
import { migrations } from '../db/migrations/list.ts';
import type { Detectors } from '../detectors/start-detectors.ts';
import type { JobsRouteDeps } from '../http/jobs.ts';
import { LIVE_DEFAULTS } from '../decoding/live-frames.ts';
import type { LiveSettings } from '../decoding/live-frames.ts';
import { createSourceAddresses } from '../inputs/source-addresses.ts';
import { createJobSignals } from './job-signals.ts';
import type { JobsConfig } from './jobs-config.ts';
import { startWorker } from './worker.ts';
import type { Worker } from './worker.ts';

/** The part of the service that runs video jobs. */
export interface Jobs {
  routeDeps: JobsRouteDeps;
  start: () => void;
  isReady: () => Promise<boolean>;
  stopPhases: StopPhase[];
}

// Detection runs in threads; a job keeps each of them supplied and one frame in reserve.
const IN_RESERVE = 1;

export async function createJobs(
  config: JobsConfig,
  { detectors, threads, logger }: { detectors: Detectors; threads: number; logger: Logger },
): Promise<Jobs> {
  const db = createDb({ url: config.DATABASE_URL, poolMax: config.DATABASE_POOL, applicationName: 'inference' });
  const kafka = { brokers: config.KAFKA_BROKERS, clientId: 'inference', logger, topicPrefix: config.TOPIC_PREFIX };
  const producer = createProducer(createKafka(kafka));
  const objects = createObjectStore(storeOptions(config));
  const box = createSecretBox(config.STREAM_URL_KEY);
  const files = await createVideoFiles({
    ...{ objects, directory: config.WORK_DIR, maxBytes: config.FILE_MAX_BYTES, keepMs: 30_000 },
  });
  const openLive = openLiveDeps(config);
  let worker: Worker | undefined;
  const schemaIsReady = schemaReadiness(db, migrations);
  const shared = {
    db,
    box,
    detectors,
    files,
    addresses: openLive.addresses,
    sandbox: config.SANDBOX,
    wakeWorker: () => worker?.wake(),
  };
  const running = {
    ...{ detectors, files, box, producer, now: Date.now, signals: createJobSignals(logger) },
    ...{ openLive, live: liveSettings(config) },
    ...{ detectAtOnce: threads + IN_RESERVE, fileNoFrameMs: config.FILE_NO_FRAME_MS },
  };
  const { JOBS_PER_WORKER: capacity, JOB_LEASE_MS: leaseMs, JOB_POLL_MS: pollMs, JOB_KEEP_DAYS: keepDays } = config;
  return {
    routeDeps: { ...shared, bucket: config.S3_BUCKET, lookMs: config.FILE_LOOK_MS, workerSeenMs: 2 * leaseMs },
    start: () => {
      worker = startWorker(running, { db, logger, capacity, leaseMs, pollMs, keepDays });
    },
    isReady: async () => (worker?.isReported() ?? false) && (await schemaIsReady()),
    stopPhases: [
      { name: 'jobs', timeoutMs: 15_000, stop: async () => worker?.stop() },
      {
        name: 'job clients',
        timeoutMs: 10_000,
        stop: async () => {
          await producer.stop();
          await files.close();
          objects.close();
          await db.destroy();
        },
      },
    ],
  };
}

function storeOptions(config: JobsConfig) {
  return {
    ...{ endpoint: config.S3_ENDPOINT, region: config.S3_REGION, bucket: config.S3_BUCKET },
    ...{ accessKey: config.S3_ACCESS_KEY, secretKey: config.S3_SECRET_KEY },
  };
}

function openLiveDeps(config: JobsConfig) {
  const policy = createAddressPolicy(config.STREAM_ALLOWED_CIDRS);
  return {
    addresses: createSourceAddresses(policy, { deadlineMs: config.SOURCE_OPEN_MS }),
    openTimeoutMs: config.SOURCE_OPEN_MS,
    ca: streamCertificates(config.STREAM_CA_FILE),
  };
}

function liveSettings(config: JobsConfig): LiveSettings {
  return {
    ...LIVE_DEFAULTS,
    sampling: { fps: config.SAMPLE_FPS, maxSide: config.DECODE_MAX_SIDE },
    sandbox: config.SANDBOX,
    noFrameMs: config.SOURCE_NO_FRAME_MS,
    giveUpMs: config.SOURCE_GIVE_UP_MS,
    backoff: { minMs: config.SOURCE_BACKOFF_MIN_MS, maxMs: config.SOURCE_BACKOFF_MAX_MS },
    killGraceMs: config.FFMPEG_KILL_GRACE_MS,
  };
}
