import { z } from 'zod';
import { snapshotMode } from '@vision/contracts/create-query';
import {
  ConfigError,
  count,
  flag,
  httpUrl,
  list,
  loadConfig,
  millis,
  port,
  serviceConfig,
  tokens,
} from '@vision/shared/config';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { secretKeys } from '@vision/shared/secret-box';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { stopTimes } from '@vision/shared/stop-times';
import type { StopSettings } from '@vision/shared/stop-times';
import { parseTrusted } from './domain/client-network.ts';
import { parsePeppers } from './domain/peppers.ts';
import { redisConfig } from './redis-config.ts';

const replicasUrl = (service: string) =>
  httpUrl()
    .optional()
    .describe(
      `Address that resolves to every replica of ${service}, for \`visionctl doctor\`; default: its usual address`,
    );

export const configSchema = z.object({
  ...serviceConfig,
  ...databaseConfig,
  ...standbyConfig,
  ...serviceKeyConfig,
  ADMIN_PORT: port(8081).describe('Port of the admin API; never exposed through the ingress'),
  ADMIN_TOKEN: tokens(16).describe(
    'Bearer tokens of the admin API, at least 16 characters each, comma separated; all are valid',
  ),
  API_KEY_PEPPERS: z
    .string()
    .transform(parsePeppers)
    .describe(
      'Peppers of the API key digests, "<version>:<base64 of 32 bytes>", comma separated; the first is current',
    ),
  LINK_KEYS: secretKeys
    .optional()
    .describe(
      'Encryption keys of links: 32 bytes in base64, optionally <version>:<key>, comma separated; the first encrypts, all decrypt. Without it no links are created',
    ),
  ...redisConfig,
  REDIS_TIMEOUT_MS: millis(250).describe('Timeout of a Redis call; afterwards local limits apply'),
  TASKS_URL: httpUrl().describe('Address of the tasks service'),
  IMAGES_URL: httpUrl().describe('Address of the images service'),
  RESULTS_URL: httpUrl().describe('Address of the results service'),
  QUOTA_URL: httpUrl().describe('Address of the quota service'),
  NOTIFY_URL: httpUrl().describe('Address of the notify service'),
  TASKS_REPLICAS_URL: replicasUrl('tasks'),
  IMAGES_REPLICAS_URL: replicasUrl('images'),
  RESULTS_REPLICAS_URL: replicasUrl('results'),
  QUOTA_REPLICAS_URL: replicasUrl('quota'),
  NOTIFY_REPLICAS_URL: replicasUrl('notify'),
  SCENES_FILE: z.string().min(1).describe('Scene registry file'),
  OPENAPI_FILE: z
    .string()
    .default(new URL('../../../docs/openapi/public.json', import.meta.url).pathname)
    .describe('OpenAPI document served at /openapi.json'),
  CONSOLE: flag(false).describe('Whether the console is served at `/console/` of the public API'),
  CONSOLE_DIR: z
    .string()
    .default(new URL('../../../packages/console/dist', import.meta.url).pathname)
    .describe('Folder of the built console'),
  CONSOLE_ONE_TIME: flag(false).describe(
    'Whether codes of the admin API sign in to the console. Only for a gateway that listens on a loopback address',
  ),
  KEY_CACHE_MS: millis(5000)
    .refine((value) => value <= 10_000, 'revocation has to work within 10 s')
    .describe('Maximum time that an API key is accepted without asking the database again'),
  SNAPSHOTS_DEFAULT: snapshotMode
    .default('off')
    .describe(
      'Whether images of videos (`tracks`) are created for video tasks of subjects that have not set it: `off` or `tracks`',
    ),
  AUTH_FAILURES_PER_MINUTE: count(120).describe('Invalid API keys that one client address may send per minute'),
  ADMIN_FAILURES_PER_MINUTE: count(10).describe(
    'Invalid admin tokens that one client address may send per minute; a valid token is always accepted',
  ),
  TRUSTED_PROXIES: list('')
    .superRefine(refuseUnknownProxies)
    .describe(
      'Proxies whose X-Forwarded-For is trusted: addresses, CIDRs, or the names loopback, linklocal, uniquelocal',
    ),
  MAX_CONNECTIONS_PER_CLIENT: count(512).describe(
    'Open connections per client address (IPv6: /64) and listener; trusted proxies are exempt',
  ),
  BODY_TIMEOUT_MS: count(3_900_000).describe(
    'Maximum time to receive the body of a request; longer than that of any service',
  ),
  PICTURE_CPU_MS_PER_S: count(500).describe(
    'Sustained processor time per second that images and video inspections of one subject may use',
  ),
  PICTURE_CPU_BURST_MS: count(30_000).describe('Processor time that they may use at once after a pause'),
  UPSTREAM_IDLE_MS: millis(120_000).describe('Maximum time without data from a service before its call is aborted'),
});

/** Values that operators do not change, with the settings in one configuration. Test suites shorten some of them. */
export const constants = {
  /** Timeout of a call that an operator makes through the admin API. */
  ADMIN_CALL_TIMEOUT_MS: 60_000,
  /** Time on local limits after a Redis failure before Redis is tried again. */
  REDIS_COOLDOWN_MS: 1000,
  /** Interval at which maintenance mode and changed limits are read. */
  SETTINGS_POLL_MS: 1000,
  /** Interval of queries for webhooks of keys that have ended; half of the time that revocation may take. */
  WEBHOOK_KEYS_POLL_MS: 5000,
  /** Minimum transfer rate of a client that sends a body or reads a response. */
  MIN_CLIENT_BYTES_PER_S: 8192,
  /** Time window over which that rate is measured. */
  CLIENT_PACE_WINDOW_MS: 30_000,
  /** Maximum time to receive the head of a request. */
  HEAD_TIMEOUT_MS: 30_000,
  /** Maximum time for a client to read a response. */
  ANSWER_TIMEOUT_MS: 900_000,
  /** Processor time per image, and per inspection of an uploaded video, that is not counted. */
  PICTURE_FREE_CPU_MS: 300,
  /** Processor time counted for each unreadable image, in addition to the time it took. */
  REFUSED_PICTURE_CPU_MS: 100,
  /** Time after which the request slots of a dead gateway are released. */
  SLOT_LEASE_MS: 15_000,
  /** Timeout of a connection to a service. */
  CONNECT_TIMEOUT_MS: 3000,
  /** Maximum time without data from a service that answers a read; longer than its database timeout. */
  UPSTREAM_READ_MS: 15_000,
};

export type Config = z.output<typeof configSchema> & typeof constants;

/** Addresses of the services behind the gateway. */
export function ownerUrls(config: Config) {
  return {
    tasks: config.TASKS_URL,
    images: config.IMAGES_URL,
    results: config.RESULTS_URL,
    quota: config.QUOTA_URL,
    notify: config.NOTIFY_URL,
  };
}

/** Addresses whose names resolve to every replica of those services, as far as they are known. */
export function replicaUrls(config: Config) {
  return {
    tasks: config.TASKS_REPLICAS_URL ?? config.TASKS_URL,
    images: config.IMAGES_REPLICAS_URL ?? config.IMAGES_URL,
    results: config.RESULTS_REPLICAS_URL ?? config.RESULTS_URL,
    quota: config.QUOTA_REPLICAS_URL ?? config.QUOTA_URL,
    notify: config.NOTIFY_REPLICAS_URL ?? config.NOTIFY_URL,
  };
}

/** Limits of the processor time for images of a subject. */
export function budgetLimits(config: Config) {
  return {
    freeMs: config.PICTURE_FREE_CPU_MS,
    refusedMs: config.REFUSED_PICTURE_CPU_MS,
    perSecondMs: config.PICTURE_CPU_MS_PER_S,
    burstMs: config.PICTURE_CPU_BURST_MS,
  };
}

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const config = loadConfig(configSchema, env);
  if (config.CONSOLE_ONE_TIME && !['127.0.0.1', '::1', 'localhost'].includes(config.HOST)) {
    throw new ConfigError('CONSOLE_ONE_TIME: HOST has to be a loopback address, such as 127.0.0.1');
  }
  return { ...constants, ...config };
}

function refuseUnknownProxies(entries: string[], context: z.RefinementCtx<string[]>): void {
  try {
    parseTrusted(entries);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : String(error));
  }
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 3_000, health: 2_000, database: 5_000 });
