import { z } from 'zod';
import {
  auditConfig,
  count,
  databaseClockConfig,
  httpUrl,
  loadConfig,
  millis,
  outboxConfig,
  retentionConfig,
  serviceConfig,
  sweepConfig,
} from '@vision/shared/config';
import { inferenceClientConfig } from '@vision/shared/inference-client';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { kafkaConfig } from '@vision/shared/messaging/kafka-config';
import { streamCertificatesConfig } from '@vision/shared/net/stream-certificates';
import { streamRulesConfig } from '@vision/shared/net/stream-rules';
import { objectStoreConfig } from '@vision/shared/object-store/object-store-config';
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
  ...databaseClockConfig,
  ...kafkaConfig,
  ...outboxConfig,
  ...objectStoreConfig,
  ...serviceKeyConfig,
  ...auditConfig,
  ...streamKeyConfig,
  CURSOR_KEYS: secretKeys.describe(
    'Keys of the cursors of lists: 32 bytes base64, optionally <version>:<key>, comma separated; the first seals, all open',
  ),
  INFERENCE_URL: inferenceClientConfig.INFERENCE_URL,
  INFERENCE_TOKEN: inferenceClientConfig.INFERENCE_TOKEN,
  INFERENCE_REPLICAS_URL: httpUrl()
    .optional()
    .describe('Address whose name resolves to every replica of the inference backend, for `visionctl doctor`'),
  BREAKER_RESET_MS: inferenceClientConfig.BREAKER_RESET_MS,
  SUBMIT_TIMEOUT_MS: inferenceClientConfig.SUBMIT_TIMEOUT_MS,
  QUOTA_URL: httpUrl().describe('Address of the quota service'),
  RESULTS_URL: httpUrl()
    .optional()
    .describe('Address of the results service, asked for frames when an end mark is late'),
  IMAGES_URL: httpUrl().optional().describe('Address of the images service, asked for image calls not heard of yet'),
  SERVICE_TIMEOUT_MS: millis(3_000).describe('Longest wait for an answer of another service'),
  SCENES_FILE: z.string().min(1).describe('Registry of scenes'),
  ...streamRulesConfig,
  ...streamCertificatesConfig,
  PROBE_CONNECT_MS: millis(3_000).describe('Longest wait for the connection to a stream, and for its name before'),
  PROBE_TOTAL_MS: millis(10_000).describe(
    'Longest time for a look at a stream; failures of every kind are answered in the last fifth of it',
  ),
  PROBES_AT_ONCE: count(3).describe('Looks at streams that one subject may have under way, for each replica'),
  PROBES_PER_MINUTE: count(30).describe('Looks at streams that one subject may begin in a minute, for each replica'),
  S3_IDLE_MS: millis(15_000).describe('Longest silence of the object store'),
  BODY_IDLE_MS: millis(30_000).describe('Longest silence of a client that is uploading'),
  BODY_TOTAL_MS: millis(HOUR_MS).describe('Longest time for one upload'),
  LEASE_MS: millis(9_000).describe('Time after which a create of a dead process is undone or found out about'),
  KEY_WAIT_MS: millis(15_000).describe('Longest wait for another request with the same Idempotency-Key'),
  STOP_WAIT_MS: millis(10_000).describe('Longest wait of a stop for the confirmation of the backend'),
  RECONCILE_MS: millis(1_000).describe(
    'Pause between two questions to the backend about a task that is about to change: stopped, ended, or missing there',
  ),
  QUIET_RECONCILE_MS: millis(30_000).describe(
    'Pause between two questions about a task whose job runs; at most half of VANISH_MS. Ends come as events before',
  ),
  RESOLVING_RECONCILE_MS: millis(2_000).describe(
    'Pause between two questions about a task whose submission is unknown',
  ),
  RESULTS_GRACE_MS: millis(MINUTE_MS).describe('After the end of a job its frames may take this long to be readable'),
  VANISH_MS: millis(2 * MINUTE_MS).describe('A job that was seen and is missing for this long has vanished'),
  RECOVERY_MS: millis(1_000).describe('Pause between two recoveries while a sign of life (LEASE_MS) sees dead creates'),
  ...retentionConfig,
  ...sweepConfig,
  PLACE_WAIT_MS: millis(5_000).describe('Longest wait of a create for a place at the backend, before it is refused'),
  PLACE_QUEUE: count(100).describe('Creates that may wait for a place at once, for each replica'),
  PLACES_KEPT_PERCENT: z.coerce
    .number()
    .int()
    .min(0)
    .max(50)
    .default(10)
    .describe('Places, rounded down, that only subjects get whose video tasks have none'),
  ORPHAN_AGE_MS: millis(24 * HOUR_MS).describe('Stored videos without a task are removed when older than this'),
  RETENTION_INTERVAL_MS: millis(HOUR_MS).describe(
    'Pause between two removals of what has expired or belongs to no task',
  ),
  RETENTION_BATCH: count(200).describe('Tasks removed in one step'),
});

export type Config = z.output<typeof configSchema>;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return loadConfig(configSchema, env);
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 15_000, health: 2_000, clients: 5_000 });
