import { z } from 'zod';
import {
  auditConstants,
  count,
  databaseClockConstants,
  flag,
  httpUrl,
  loadConfig,
  millis,
  outboxConfig,
  retentionConfig,
  serviceConfig,
  sweepConstants,
  sweepGraceConfig,
} from '@vision/shared/config';
import { inferenceClientConfig } from '@vision/creation/inference-client';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { kafkaConfig } from '@vision/kafka/kafka-config';
import { streamCertificatesConfig } from '@vision/streams/stream-certificates';
import { streamRulesConfig } from '@vision/streams/stream-rules';
import { objectStoreConfig } from '@vision/objects/object-store-config';
import { secretKeys, streamKeyConfig } from '@vision/shared/secret-box';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { stopTimes } from '@vision/shared/stop-times';
import type { StopSettings } from '@vision/shared/stop-times';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const configSchema = z.object({
  ...serviceConfig,
  ...databaseConfig,
  ...standbyConfig,
  ...kafkaConfig,
  ...outboxConfig,
  ...objectStoreConfig,
  ...serviceKeyConfig,
  ...streamKeyConfig,
  CURSOR_KEYS: secretKeys.describe(
    'Keys of list cursors: 32 bytes in base64, optionally <version>:<key>, comma separated; the first encrypts, all decrypt',
  ),
  INFERENCE_URL: inferenceClientConfig.INFERENCE_URL,
  INFERENCE_TOKEN: inferenceClientConfig.INFERENCE_TOKEN,
  INFERENCE_REPLICAS_URL: httpUrl()
    .optional()
    .describe('Address that resolves to every replica of the inference backend, for `visionctl doctor`'),
  BREAKER_RESET_MS: inferenceClientConfig.BREAKER_RESET_MS,
  SUBMIT_TIMEOUT_MS: inferenceClientConfig.SUBMIT_TIMEOUT_MS,
  QUOTA_URL: httpUrl().describe('Address of the quota service'),
  RESULTS_URL: httpUrl()
    .optional()
    .describe(
      'Address of the results service, queried for frames if an end-of-stream marker is late, and told to delete results',
    ),
  IMAGES_URL: httpUrl()
    .optional()
    .describe(
      'Address of the images service, queried for image calls whose event has not arrived, and told to delete image calls',
    ),
  SERVICE_TIMEOUT_MS: millis(3_000).describe('Timeout of a call to another service'),
  SCENES_FILE: z.string().min(1).describe('Scene registry file'),
  ...streamRulesConfig,
  ...streamCertificatesConfig,
  PROBE_CONNECT_MS: millis(3_000).describe('Timeout of the connection to a stream, and of its name lookup'),
  PROBE_TOTAL_MS: millis(10_000).describe(
    'Maximum duration of a stream probe; failures of any kind are answered in the last fifth of it',
  ),
  PROBES_AT_ONCE: count(3).describe('Concurrent stream probes per subject and replica'),
  PROBES_PER_MINUTE: count(30).describe('Stream probes per minute, subject and replica'),
  STREAM_PROBES_PER_MINUTE: count(10).describe(
    'Requests of POST /v1/vision/stream-probes per minute, subject and replica; each counts among PROBES_PER_MINUTE too',
  ),
  PROBE_SNAPSHOTS: flag(true).describe('Stream probes return the frame as an image, which is never stored'),
  S3_IDLE_MS: millis(15_000).describe('Maximum time without data from the object store'),
  BODY_IDLE_MS: millis(30_000).describe('Maximum time without data from an uploading client'),
  BODY_TOTAL_MS: millis(HOUR_MS).describe('Maximum duration of an upload'),
  LEASE_MS: millis(9_000).describe(
    'Lease of a create request; after it, another process rolls the request back or determines its outcome',
  ),
  KEY_WAIT_MS: millis(15_000).describe('Maximum wait for another request with the same Idempotency-Key'),
  STOP_WAIT_MS: millis(10_000).describe('Maximum wait of a stop request for the confirmation of the backend'),
  RECONCILE_MS: millis(1_000).describe(
    'Interval between two backend queries about a task that is about to change: stopped, ended, or missing there',
  ),
  QUIET_RECONCILE_MS: millis(30_000).describe(
    'Interval between two backend queries about a running task, at most half of VANISH_MS. A fallback: job ends normally arrive as events.',
  ),
  RESOLVING_RECONCILE_MS: millis(2_000).describe(
    'Interval between two backend queries about a task whose submission has an unknown outcome',
  ),
  RESULTS_GRACE_MS: millis(MINUTE_MS).describe(
    'Maximum time between the end of a job and the moment all its frames are readable',
  ),
  VANISH_MS: millis(2 * MINUTE_MS).describe(
    'Time after which a job that the backend no longer reports counts as vanished',
  ),
  RECOVERY_MS: millis(1_000).describe('Interval between recovery runs while expired create requests exist'),
  ...retentionConfig,
  ...sweepGraceConfig,
  PLACE_WAIT_MS: millis(5_000).describe('Maximum wait of a create request for a capacity slot of the backend'),
  PLACE_QUEUE: count(100).describe('Create requests that may wait for a capacity slot, per replica'),
  PLACES_KEPT_PERCENT: z.coerce
    .number()
    .int()
    .min(0)
    .max(50)
    .default(10)
    .describe('Share of the capacity slots, rounded down, reserved for subjects without a running video task'),
  RETENTION_INTERVAL_MS: millis(HOUR_MS).describe('Interval between two deletions of expired data and orphaned videos'),
  RETENTION_BATCH: count(200).describe('Tasks deleted per step'),
});

/** What no operator changes, with the settings in one configuration. Suites that hasten replace some of them. */
export const constants = {
  ...databaseClockConstants,
  ...auditConstants,
  ...sweepConstants,
};

export type Config = z.output<typeof configSchema> & typeof constants;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return { ...constants, ...loadConfig(configSchema, env) };
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 15_000, health: 2_000, clients: 5_000 });
