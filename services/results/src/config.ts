import { z } from 'zod';
import {
  ConfigError,
  auditConfig,
  count,
  databaseClockConfig,
  httpUrl,
  list,
  loadConfig,
  millis,
  outboxConfig,
  retentionConfig,
  sweepGraceConfig,
  serviceConfig,
} from '@vision/shared/config';
import { databaseConfig } from '@vision/shared/db/database-config';
import { kafkaConfig } from '@vision/shared/messaging/kafka-config';
import type { ObjectStoreOptions } from '@vision/shared/object-store/exchange';
import { objectStoreConfig, objectStoreOptions } from '@vision/shared/object-store/object-store-config';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { stopTimes } from '@vision/shared/stop-times';
import type { StopSettings } from '@vision/shared/stop-times';

const cursorKeys = list('').refine(
  (keys) => keys.length > 0 && keys.every((key) => key.length >= 32),
  'at least one, each of at least 32 characters',
);

export const configSchema = z.object({
  ...serviceConfig,
  ...databaseConfig,
  ...databaseClockConfig,
  ...kafkaConfig,
  ...outboxConfig,
  ...serviceKeyConfig,
  CURSOR_KEYS: cursorKeys.describe(
    'Secrets of the cursors of results, at least 32 characters each, comma separated; the first seals, all open',
  ),
  ...auditConfig,
  TASKS_URL: httpUrl().describe('Address of the tasks service'),
  IMAGES_URL: httpUrl().describe('Address of the images service'),
  SERVICE_TIMEOUT_MS: millis(3_000).describe('Longest wait for an answer of another service'),
  FRAMES_PER_TRANSACTION: count(500).describe('Frames stored in one transaction at most'),
  ...objectStoreConfig,
  S3_ENDPOINT: objectStoreConfig.S3_ENDPOINT.optional(),
  S3_IDLE_MS: millis(5_000).describe('Longest wait for the object store'),
  WRITE_SEGMENTS: z
    .enum(['auto', 'true', 'false'])
    .default('auto')
    .describe(
      'Whether frames are stored as segments, older ones in the object store, which needs S3_ENDPOINT. auto: unless ' +
        'the database was made by 0.2, which reads rows only; from the first start with true on there too. Both are ' +
        'read whatever it says',
    ),
  SEGMENT_YOUNG_MS: millis(600_000).describe(
    'How long frames stay in the database at least before they go to the object store',
  ),
  SEGMENT_INTERVAL_MS: millis(10_000).describe('Pause between two looks for frames that may go there'),
  ...retentionConfig,
  ...sweepGraceConfig,
  RETENTION_INTERVAL_MS: millis(3_600_000).describe('Pause between two looks for partitions to make and to drop'),
  FRAME_PATIENCE_MS: millis(40_000).describe(
    'How long an end mark waits for frames that it speaks of; then they are missing, and an alarm says so. Shorter ' +
      'than RESULTS_GRACE_MS of tasks, so that this alarm is the only one for a hole',
  ),
  END_CHECK_MS: millis(5_000).describe(
    'Pause between two looks for end marks whose frames are overdue, and for events that nobody announced',
  ),
  END_PATIENCE_MS: millis(900_000).describe(
    'Time after the end of a task when a missing end mark is waited for no more',
  ),
});

export type Config = z.output<typeof configSchema>;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const config = loadConfig(configSchema, env);
  if (config.WRITE_SEGMENTS === 'true' && config.S3_ENDPOINT === undefined)
    throw new ConfigError('S3_ENDPOINT is not set: WRITE_SEGMENTS=true stores frames there');
  return config;
}

/** The object store; undefined when none is named. */
export function storeOptionsOf(config: Config): ObjectStoreOptions | undefined {
  const { S3_ENDPOINT: endpoint, S3_IDLE_MS: idleMs } = config;
  if (endpoint === undefined) return undefined;
  return { ...objectStoreOptions({ ...config, S3_ENDPOINT: endpoint }), idleMs, deadlineMs: idleMs };
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 15_000, health: 2_000, database: 5_000 });
