import { z } from 'zod';
import {
  count,
  databaseClockConfig,
  list,
  loadConfig,
  millis,
  outboxConfig,
  serviceConfig,
} from '@vision/shared/config';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { kafkaConfig } from '@vision/kafka/kafka-config';
import { servicePublicKeysConfig } from '@vision/shared/service-keys';
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
  ...standbyConfig,
  ...kafkaConfig,
  ...outboxConfig,
  ...servicePublicKeysConfig,
  CURSOR_KEYS: cursorKeys.describe(
    'Secrets of event cursors, at least 32 characters each, comma separated; the first encrypts, all decrypt',
  ),
  EVENT_DAYS: z.coerce
    .number()
    .int()
    .min(8)
    .max(365)
    .default(30)
    .describe('Days that events are retained; longer than Kafka retains the events they are made of'),
  RETENTION_INTERVAL_MS: millis(3_600_000).describe('Interval between two runs that remove expired events'),
  RETENTION_BATCH: count(5_000).describe('Events removed in one transaction'),
});

export type Config = z.output<typeof configSchema>;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return loadConfig(configSchema, env);
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 15_000, health: 2_000, database: 5_000 });
