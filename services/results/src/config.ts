import { z } from 'zod';
import {
  auditConstants,
  count,
  databaseClockConstants,
  httpUrl,
  list,
  loadConfig,
  millis,
  outboxConfig,
  retentionConfig,
  serviceConfig,
  sweepConstants,
  sweepGraceConfig,
} from '@vision/shared/config';
import { databaseConfig } from '@vision/shared/db/database-config';
import { kafkaConfig } from '@vision/kafka/kafka-config';
import type { ObjectStoreOptions } from '@vision/objects/call-store';
import { objectStoreConfig, objectStoreOptions } from '@vision/objects/object-store-config';
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
  ...kafkaConfig,
  ...outboxConfig,
  ...serviceKeyConfig,
  CURSOR_KEYS: cursorKeys.describe(
    'Secrets of result cursors, at least 32 characters each, comma separated; the first encrypts, all decrypt',
  ),
  TASKS_URL: httpUrl().describe('Address of the tasks service'),
  IMAGES_URL: httpUrl().describe('Address of the images service'),
  ...objectStoreConfig,
  SEGMENT_YOUNG_MS: millis(600_000).describe(
    'Minimum time that frames stay in the database before they are moved to the object store',
  ),
  ...retentionConfig,
  SNAPSHOT_DAYS: count(30).describe(
    'Days that images of tracks are retained; a value above RETENTION_DAYS counts as RETENTION_DAYS',
  ),
  ...sweepGraceConfig,
});

/** Values that operators do not change, with the settings in one configuration. Test suites shorten some of them. */
export const constants = {
  ...databaseClockConstants,
  ...auditConstants,
  ...sweepConstants,
  /** Timeout of a call to another service. */
  SERVICE_TIMEOUT_MS: 3_000,
  /**
   * Not read: frames are stored as segments. Its name stays known, so that operators who still set it get a warning.
   */
  WRITE_SEGMENTS: 'true',
  /** Maximum number of frames stored in one transaction. */
  FRAMES_PER_TRANSACTION: 500,
  /**
   * Timeout of a whole object store request, not only of silence. Below the default of 15 s: a page reads several
   * objects and has to be answered within UPSTREAM_READ_MS of the gateway.
   */
  S3_IDLE_MS: 5_000,
  /** Interval between two queries for frames to move. */
  SEGMENT_INTERVAL_MS: 10_000,
  /** Interval between two queries for objects that became part of no segment. */
  SWEEP_INTERVAL_MS: 600_000,
  /** Interval between two checks for partitions to create and to drop. */
  RETENTION_INTERVAL_MS: 3_600_000,
  /**
   * Maximum wait for frames that an end-of-stream marker counts; afterwards they are reported as missing. Shorter than
   * RESULTS_GRACE_MS of tasks.
   */
  FRAME_PATIENCE_MS: 40_000,
  /** Interval between queries for end-of-stream markers with overdue frames, and for events without a notification. */
  END_CHECK_MS: 5_000,
  /** Time after the end of a task after which its end-of-stream marker is no longer awaited. */
  END_PATIENCE_MS: 900_000,
};

export type Config = z.output<typeof configSchema> & typeof constants;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return { ...constants, ...loadConfig(configSchema, env) };
}

export function storeOptionsOf(config: Config): ObjectStoreOptions {
  const { S3_IDLE_MS: idleMs } = config;
  return { ...objectStoreOptions(config), idleMs, deadlineMs: idleMs };
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 15_000, health: 2_000, database: 5_000 });
