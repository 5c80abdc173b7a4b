import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import {
  ConfigError,
  auditConstants,
  count,
  flag,
  loadConfig,
  millis,
  serviceConfig,
  tokens,
} from '@vision/shared/config';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { kafkaConfig } from '@vision/kafka/kafka-config';
import { streamRulesConfig } from '@vision/streams/stream-rules';
import { streamCertificatesConfig } from '@vision/streams/stream-certificates';
import { objectStoreConfig } from '@vision/objects/object-store-config';
import { streamKeyConfig } from '@vision/shared/secret-box';
import { servicePublicKeysConfig } from '@vision/shared/service-keys';
import { stopTimes } from '@vision/shared/stop-times';
import type { StopSettings } from '@vision/shared/stop-times';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

const needed = {
  ...databaseConfig,
  ...kafkaConfig,
  ...objectStoreConfig,
  ...streamKeyConfig,
};

/** Settings of video jobs. Without a database the service detects in images only. */
const videoConfig = {
  ...databaseConfig,
  ...standbyConfig,
  DATABASE_URL: needed.DATABASE_URL.optional(),
  ...kafkaConfig,
  KAFKA_BROKERS: needed.KAFKA_BROKERS.optional(),
  ...objectStoreConfig,
  S3_ENDPOINT: needed.S3_ENDPOINT.optional(),
  STREAM_URL_KEY: needed.STREAM_URL_KEY.optional(),
  ...streamRulesConfig,
  ...streamCertificatesConfig,
  JOBS_PER_WORKER: count(16).describe('Concurrent video jobs per worker'),
  LIVE_JOBS_PER_WORKER: z.coerce
    .number()
    .int()
    .min(0)
    .default(0)
    .describe(
      'Concurrent live streams among them; 0: as many as this worker can process at SAMPLE_FPS, by measured cost',
    ),
  JOB_LEASE_MS: millis(10_000).describe(
    'Lease of a job; after it, another worker takes the job over. Longer than the outages of the database that live streams have to survive, by 2 s at least',
  ),
  UNSENT_FRAMES_JOB_MAX_BYTES: count(16 * 1024 * 1024).describe(
    'Memory for unsent frames of one live stream while Kafka is unavailable; beyond it, the oldest frames are dropped',
  ),
  UNSENT_FRAMES_MAX_BYTES: count(128 * 1024 * 1024).describe(
    'Memory for unsent frames of all jobs of a worker while Kafka is unavailable',
  ),
  SEGMENT_LINGER_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(2_000)
    .default(250)
    .describe(
      'Time that frames wait to be published together, in segments, while every replica of results reads segments; 0: each frame is published by itself',
    ),
  SAMPLE_FPS: z.coerce.number().min(0.2).max(30).default(5).describe('Frames sampled per second of video'),
  DECODE_MAX_SIDE: count(1280).describe('Maximum longest side of a decoded frame of a live stream, in pixels'),
  SNAPSHOT_MAX_SIDE: z.coerce
    .number()
    .int()
    .min(16)
    .max(4096)
    .default(1280)
    .describe('Maximum longest side of a snapshot of a video, in pixels'),
  SOURCE_NO_FRAME_MS: millis(20_000).describe('Time without a frame after which a live stream is reconnected'),
  SOURCE_GIVE_UP_MS: millis(600_000).describe(
    'Time without a frame after which a live stream has failed, unless its task has a `give_up_after_s` of its own',
  ),
  FILE_MAX_BYTES: count(512 * 1024 * 1024).describe('Maximum size of a video file in bytes'),
  WORK_DIR: z.string().default(join(tmpdir(), 'vision-inference')).describe('Directory for copies of uploaded videos'),
  WORK_DIR_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .default(0)
    .describe(
      'Maximum size of all copies in WORK_DIR; 0: the capacity of its file system. Required where the file system does not show the limit of the volume, such as emptyDir with sizeLimit',
    ),
  STREAM_PROBES_PER_WORKER: count(4).describe('Concurrent stream probes per worker; further ones are rejected'),
};

export const configSchema = z.object({
  ...serviceConfig,
  SCENES_FILE: z
    .string()
    .default(path('../../../config/scenes.json'))
    .describe('Registry of scenes and their detectors'),
  MODELS_DIR: z.string().default(path('../models')).describe('Directory of the ONNX files that the registry names'),
  SERVICE_PUBLIC_KEYS: servicePublicKeysConfig.SERVICE_PUBLIC_KEYS.optional(),
  INFERENCE_TOKEN: tokens(16)
    .optional()
    .describe('Static bearer tokens that are accepted in addition to service tokens, comma separated'),
  DEVELOPMENT_WITHOUT_TOKEN: flag(false).describe('Accept callers without a token; for development only'),
  DETECT_THREADS: z.coerce
    .number()
    .int()
    .min(0)
    .max(256)
    .default(0)
    .describe(
      'Detection threads, one image each at a time; 0: one per core within the processor limit of the container',
    ),
  DETECT_QUEUE: count(32).describe('Images that may wait for a detection thread; further ones are rejected'),
  DETECT_ANSWER_MS: millis(15_000).describe(
    'Maximum time until an image is answered, including the wait; then it is rejected. Below DETECT_TIMEOUT_MS of callers',
  ),
  SANDBOX: z
    .enum(['auto', 'require', 'off'])
    .default('auto')
    .describe('Sandbox for decoders (bubblewrap or Landlock): `auto` where one works, always, or never'),
  ...videoConfig,
});

/** What no operator changes, with the settings in one configuration. Suites that hasten replace some of them. */
export const constants = {
  ...auditConstants,
  /** Not read: frames travel in segments unless SEGMENT_LINGER_MS is 0. Its name warns those who still set it. */
  PUBLISH_SEGMENTS: 'true',
  /** Not read: an image that is alone gets several threads anyway. Its name warns those who still set it. */
  DETECT_INTRA_OP_THREADS: 1,
  /** Time before the end of a lease that could not be renewed at which the worker yields the job. */
  JOB_LEASE_MARGIN_MS: 2_000,
  /** Frame numbers that a live stream reserves in the database at a time. */
  JOB_SEQ_STEP: 2_000,
  /** Maximum wait of a live stream for more frame numbers; then frames are dropped. */
  JOB_SEQ_WAIT_MS: 2_000,
  /** Interval between two queries for work, which also renew leases and notice stops. */
  JOB_POLL_MS: 500,
  /** Days that ended jobs are retained. */
  JOB_KEEP_DAYS: 100,
  /** Timeout of a connection to a live stream. */
  SOURCE_OPEN_MS: 10_000,
  /** Pause before the first reconnection. */
  SOURCE_BACKOFF_MIN_MS: 1_000,
  /** Maximum pause before a reconnection. */
  SOURCE_BACKOFF_MAX_MS: 30_000,
  /** Time without a frame after which a live stream with `give_up_after_s` yields its capacity slot. */
  SOURCE_PARK_MS: 600_000,
  /** Pause before such a stream is connected to again. */
  SOURCE_REOPEN_MS: 60_000,
  /** Time limit of ffmpeg for one sample of a file. */
  FILE_NO_FRAME_MS: 120_000,
  /** Time limit for the inspection of an uploaded file before its job is accepted. */
  FILE_LOOK_MS: 2_500,
  /** Time between the signal to ffmpeg to end and its kill. */
  FFMPEG_KILL_GRACE_MS: 3_000,
  /**
   * First pause of a file job that lacks space in WORK_DIR or a process. The next two pauses are three times as long
   * each, then the attempt ends.
   */
  SHORTAGE_RETRY_MS: 2_000,
  /** Processor time limit for decoding one image. */
  PICTURE_CPU_MS: 2_000,
  /** Time limit for decoding one image; then its process is killed. */
  PICTURE_WAIT_MS: 20_000,
};

/** Values that never were settings. */
export const internals = {
  /**
   * Cores that the decoder of a live stream may take for five seconds; then other work has priority over it. Video of
   * 1080p at 25 frames a second takes 0.10 to 0.13 (`make bench BENCH=streams`), so 4K may exceed this.
   */
  HEAVY_DECODER_CORES: 0.4,
};

export type Config = z.output<typeof configSchema> & typeof constants & typeof internals;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return { ...internals, ...constants, ...loadConfig(configSchema, env) };
}

type Configured = z.output<z.ZodObject<typeof videoConfig>> & typeof constants & typeof internals;

export type VideoConfig = Configured & z.output<z.ZodObject<typeof needed>>;

/** @throws ConfigError when a worker would yield its jobs at once. */
function checkLease({ JOB_LEASE_MS: leaseMs, JOB_LEASE_MARGIN_MS: marginMs, JOB_POLL_MS: pollMs }: Configured): void {
  const leastMs = marginMs + 2 * pollMs;
  if (leaseMs < leastMs) throw new ConfigError(`JOB_LEASE_MS has to be ${leastMs} at least`);
}

/**
 * The settings when they are complete, undefined when there is no database. @throws ConfigError when only
 * some are there.
 */
export function completeVideoConfig(config: Configured): VideoConfig | undefined {
  if (config.DATABASE_URL === undefined) return undefined;
  const missing = (Object.keys(needed) as (keyof typeof needed)[]).filter((name) => {
    return config[name] === undefined && !needed[name].safeParse(undefined).success;
  });
  if (missing.length > 0) throw new ConfigError(`Video jobs also need: ${missing.join(', ')}`);
  checkLease(config);
  return config as VideoConfig;
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, {
    http: settings.SHUTDOWN_GRACE_MS,
    worker: 15_000,
    detectors: 5_000,
    pictures: 1_000,
    health: 2_000,
    clients: 10_000,
    sandbox: 1_000,
  });
