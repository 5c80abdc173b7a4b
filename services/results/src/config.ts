import { z } from 'zod';
import {
  auditConfig,
  count,
  databaseClockConfig,
  httpUrl,
  list,
  loadConfig,
  millis,
  outboxConfig,
  retentionConfig,
  serviceConfig,
} from '@vision/shared/config';
import { databaseConfig } from '@vision/shared/db/database-config';
import { kafkaConfig } from '@vision/shared/messaging/kafka-config';
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
  ...retentionConfig,
  RETENTION_INTERVAL_MS: millis(3_600_000).describe('Pause between two looks for partitions to make and to drop'),
  FRAME_PATIENCE_MS: millis(40_000).describe(
    'How long an end mark waits for frames that it speaks of; then they are missing, and an alarm says so. Shorter ' +
      'than RESULTS_GRACE_MS of tasks, so that this alarm is the only one for a hole',
  ),
  END_CHECK_MS: millis(1_000).describe('Pause between two looks for end marks whose frames are overdue'),
  END_PATIENCE_MS: millis(900_000).describe(
    'Time after the end of a task when a missing end mark is waited for no more',
  ),
});

export type Config = z.output<typeof configSchema>;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return loadConfig(configSchema, env);
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 15_000, health: 2_000, database: 5_000 });
