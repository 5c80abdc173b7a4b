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
import { inferenceClientConfig, inferenceClientConstants } from '@vision/creation/inference-client';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { kafkaConfig } from '@vision/kafka/kafka-config';
import { streamCertificatesConfig } from '@vision/streams/stream-certificates';
import { streamRulesConfig } from '@vision/streams/stream-rules';
import { S3_IDLE_MS } from '@vision/objects/idle-limit';
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
  SCENES_FILE: z.string().min(1).describe('Scene registry file'),
  ...streamRulesConfig,
  ...streamCertificatesConfig,
  PROBE_TOTAL_MS: millis(10_000).describe(
    'Maximum duration of a stream probe; failures of any kind are answered in the last fifth of it',
  ),
  PROBES_AT_ONCE: count(3).describe('Concurrent stream probes per subject and replica'),
  PROBES_PER_MINUTE: count(30).describe('Stream probes per minute, subject and replica'),
  STREAM_PROBES_PER_MINUTE: count(10).describe(
    'Requests of POST /v1/vision/stream-probes per minute, subject and replica; each counts among PROBES_PER_MINUTE too',
  ),
  PROBE_SNAPSHOTS: flag(true).describe('Stream probes return the frame as an image, which is never stored'),
  BODY_TOTAL_MS: millis(HOUR_MS).describe('Maximum duration of an upload'),
  ...retentionConfig,
  ...sweepGraceConfig,
  PLACE_WAIT_MS: millis(5_000).describe('Maximum wait of a create request for a capacity slot of the backend'),
  PLACE_QUEUE: count(100).describe('Create requests that may wait for a capacity slot, per replica'),
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
  /** Timeout of a call to another service. */
  SERVICE_TIMEOUT_MS: 3_000,
  /** Timeout of the connection to a stream, and of its name lookup. */
  PROBE_CONNECT_MS: 3_000,
  /** Maximum time without data from the object store. */
  S3_IDLE_MS,
  /** Maximum time without data from an uploading client. */
  BODY_IDLE_MS: 30_000,
  /** Share of the capacity slots, rounded down, that is kept for subjects without a running video task. */
  PLACES_KEPT_PERCENT: 10,
  /** Lease of a create request; after it, another process rolls the request back or determines its outcome. */
  LEASE_MS: 9_000,
  /** Maximum wait for another request with the same Idempotency-Key. */
  KEY_WAIT_MS: 15_000,
  /** Maximum wait of a stop request for the confirmation of the backend. */
  STOP_WAIT_MS: 10_000,
  /** Interval between two backend queries about a task that is about to change: stopped, ended, or missing there. */
  RECONCILE_MS: 1_000,
  /**
   * Interval between two backend queries about a running task, at most half of VANISH_MS. A fallback: job ends normally
   * arrive as events.
   */
  QUIET_RECONCILE_MS: 30_000,
  /** Interval between two backend queries about a task whose submission has an unknown outcome. */
  RESOLVING_RECONCILE_MS: 2_000,
  /**
   * After the end of its job a task waits this long for readable frames, then ends without them. Longer than
   * FRAME_PATIENCE_MS of results.
   */
  RESULTS_GRACE_MS: MINUTE_MS,
  /** Time after which a job that the backend no longer reports counts as vanished. */
  VANISH_MS: 2 * MINUTE_MS,
  /** Interval between recovery runs while expired create requests exist. */
  RECOVERY_MS: 1_000,
  /** Interval between two deletions of expired data and orphaned videos. */
  RETENTION_INTERVAL_MS: HOUR_MS,
  /** Tasks deleted per step. */
  RETENTION_BATCH: 200,
};

export type Config = z.output<typeof configSchema> & typeof constants;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return { ...constants, ...loadConfig(configSchema, env) };
}

/** Maximum time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 15_000, health: 2_000, clients: 5_000 });
