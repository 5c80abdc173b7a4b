import { tmpdir } from 'node:os';
import { z } from 'zod';
import {
  ConfigError,
  auditConstants,
  count,
  databaseClockConstants,
  httpUrl,
  loadConfig,
  millis,
  outboxConfig,
  retentionConfig,
  serviceConfig,
  sweepConstants,
  sweepGraceConfig,
} from '@vision/shared/config';
import { inferenceClientConfig, inferenceClientConstants } from '@vision/creation/inference-client';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { kafkaConfig } from '@vision/kafka/kafka-config';
import { objectStoreConfig } from '@vision/objects/object-store-config';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { stopTimes } from '@vision/shared/stop-times';
import type { StopSettings } from '@vision/shared/stop-times';

const DAY_MS = 86_400_000;

export const configSchema = z.object({
  ...serviceConfig,
  ...databaseConfig,
  ...standbyConfig,
  ...kafkaConfig,
  ...outboxConfig,
  ...objectStoreConfig,
  ...serviceKeyConfig,
  ...retentionConfig,
  ...sweepGraceConfig,
  INFERENCE_URL: inferenceClientConfig.INFERENCE_URL,
  INFERENCE_TOKEN: inferenceClientConfig.INFERENCE_TOKEN,
  DETECT_TIMEOUT_MS: inferenceClientConfig.DETECT_TIMEOUT_MS,
  QUOTA_URL: httpUrl().describe('Address of the quota service'),
  SCENES_FILE: z.string().min(1).describe('Scene registry file'),
  SPOOL_DIR: z.string().default(tmpdir()).describe('Directory for image files during an upload; local and fast'),
  MAX_CALLS: count(128).describe('Concurrent image calls per process'),
  CALL_TIMEOUT_MS: millis(80_000).describe(
    'Maximum duration of an image call after its upload; images not finished by then fail. Below UPSTREAM_IDLE_MS of the gateway',
  ),
  IMAGES_AT_ONCE: count(8).describe(
    'Images that one process stores and detects concurrently; one subject gets at most half of them',
  ),
  BODY_TOTAL_MS: millis(600_000).describe('Maximum duration of an upload'),
});

/**
 * Constants that operators do not change, and the settings, in one configuration. Fast test suites replace some of
 * them.
 */
export const constants = {
  ...databaseClockConstants,
  ...auditConstants,
  ...sweepConstants,
  ...inferenceClientConstants,
  /** Timeout of a call to the quota service. */
  QUOTA_TIMEOUT_MS: 3_000,
  /**
   * Maximum time without data from the object store; the images of the call then fail. Below the default of 15 s:
   * storing and settling have to fit into the 20 s after CALL_TIMEOUT_MS.
   */
  S3_IDLE_MS: 10_000,
  /** Images of one call that are detected concurrently. */
  IMAGES_PER_CALL_AT_ONCE: 4,
  /** Concurrent calls detected before their key is claimed and units are reserved; one subject gets at most half. */
  HEAD_STARTS: 8,
  /** Maximum time without data from an uploading client. */
  BODY_IDLE_MS: 30_000,
  /** Lease of an image call; after it, another process takes the call over. Below KEY_WAIT_MS. */
  LEASE_MS: 12_000,
  /** Maximum wait for another call with the same Idempotency-Key. */
  KEY_WAIT_MS: 15_000,
  /** Interval between recovery runs while expired image calls exist. */
  RECOVERY_INTERVAL_MS: 1_000,
  /** Interval between two sweeps for stored images without a call. */
  SWEEP_INTERVAL_MS: 3_600_000,
  /** Interval between two deletions of expired data. */
  RETENTION_INTERVAL_MS: DAY_MS,
};

export type Config = z.output<typeof configSchema> & typeof constants;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const config = { ...constants, ...loadConfig(configSchema, env) };
  if (config.CALL_TIMEOUT_MS <= config.DETECT_TIMEOUT_MS)
    throw new ConfigError('CALL_TIMEOUT_MS has to be longer than DETECT_TIMEOUT_MS');
  return config;
}

/** Maximum time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, {
    http: settings.SHUTDOWN_GRACE_MS,
    calls: 10_000,
    background: 15_000,
    health: 2_000,
    clients: 5_000,
  });
