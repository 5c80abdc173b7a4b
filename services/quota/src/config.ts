import { z } from 'zod';
import {
  auditConfig,
  count,
  databaseClockConfig,
  databaseConfig,
  kafkaConfig,
  loadConfig,
  millis,
  serviceConfig,
} from '@vision/shared/config';
import { servicePublicKeysConfig } from '@vision/shared/service-keys';

export const configSchema = z.object({
  ...serviceConfig,
  ...databaseConfig,
  ...databaseClockConfig,
  ...kafkaConfig,
  ...servicePublicKeysConfig,
  ...auditConfig,
  LEDGER_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(91)
    .default(120)
    .describe('Closed reservations older than this are folded into their counter; longer than any result lives'),
  RETENTION_INTERVAL_MS: millis(3_600_000).describe('Pause between two looks for old reservations'),
  RETENTION_BATCH: count(5_000).describe('Reservations folded in one transaction'),
});

export type Config = z.output<typeof configSchema>;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return loadConfig(configSchema, env);
}
