import { z } from 'zod';
import { auditConstants, databaseClockConstants, loadConfig, serviceConfig } from '@vision/shared/config';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { kafkaConfig } from '@vision/kafka/kafka-config';
import { servicePublicKeysConfig } from '@vision/shared/service-keys';
import { stopTimes } from '@vision/shared/stop-times';
import type { StopSettings } from '@vision/shared/stop-times';

export const configSchema = z.object({
  ...serviceConfig,
  ...databaseConfig,
  ...standbyConfig,
  ...kafkaConfig,
  ...servicePublicKeysConfig,
  LEDGER_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(91)
    .default(120)
    .describe(
      'Days that closed reservations are retained before they are folded into their counter; longer than any result is retained',
    ),
});

/** Values that operators do not change, with the settings in one configuration. Test suites shorten some of them. */
export const constants = {
  ...databaseClockConstants,
  ...auditConstants,
  /** Interval between two runs that fold old reservations. */
  RETENTION_INTERVAL_MS: 3_600_000,
  /** Reservations folded in one transaction. */
  RETENTION_BATCH: 5_000,
};

export type Config = z.output<typeof configSchema> & typeof constants;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return { ...constants, ...loadConfig(configSchema, env) };
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 15_000, health: 2_000, database: 5_000 });
