import { z } from 'zod';
import { count, httpUrl, list, loadConfig, millis, port, serviceConfig, tokens } from '@vision/shared/config';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { redisConfig } from '@vision/shared/redis-config';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { stopTimes } from '@vision/shared/stop-times';
import type { StopSettings } from '@vision/shared/stop-times';
import { parseTrusted } from './domain/client-network.ts';
import { parsePeppers } from './domain/peppers.ts';

const replicasUrl = (service: string) =>
  httpUrl()
    .optional()
    .describe(`Address whose name resolves to every replica of ${service}, for \`visionctl doctor\`; else that above`);

export const configSchema = z.object({
  ...serviceConfig,
  ...databaseConfig,
  ...standbyConfig,
  ...serviceKeyConfig,
  ADMIN_PORT: port(8081).describe('Port of the admin API; never exposed through the ingress'),
  ADMIN_TOKEN: tokens(16).describe(
    'Bearer tokens of the admin API, at least 16 characters each, comma separated; each of them counts',
  ),
  API_KEY_PEPPERS: z
    .string()
    .transform(parsePeppers)
    .describe(
      'Peppers of the API key digests, "<version>:<base64 of 32 bytes>", comma separated, the first is current',
    ),
  ...redisConfig,
  REDIS_TIMEOUT_MS: millis(250).describe('Longest wait for Redis before the local limits take over'),
  REDIS_COOLDOWN_MS: millis(1000).describe('Time on local limits after Redis failed, before it is asked again'),
  TASKS_URL: httpUrl().describe('Address of the tasks service'),
  IMAGES_URL: httpUrl().describe('Address of the images service'),
  RESULTS_URL: httpUrl().describe('Address of the results service'),
  QUOTA_URL: httpUrl().describe('Address of the quota service'),
  TASKS_REPLICAS_URL: replicasUrl('tasks'),
  IMAGES_REPLICAS_URL: replicasUrl('images'),
  RESULTS_REPLICAS_URL: replicasUrl('results'),
  QUOTA_REPLICAS_URL: replicasUrl('quota'),
  SCENES_FILE: z.string().min(1).describe('The registry of scenes'),
  OPENAPI_FILE: z
    .string()
    .default(new URL('../../../docs/openapi/public.json', import.meta.url).pathname)
    .describe('The OpenAPI document served at /openapi.json'),
  KEY_CACHE_MS: millis(5000)
    .refine((value) => value <= 10_000, 'revocation has to work within 10 s')
    .describe('Longest time a key is accepted without asking the database again'),
  SETTINGS_POLL_MS: count(1000).describe('Interval at which maintenance and changed limits are read'),
  AUTH_FAILURES_PER_MINUTE: count(120).describe('Wrong keys one remote address may present in a minute'),
  ADMIN_FAILURES_PER_MINUTE: count(10).describe(
    'Wrong tokens one remote address may present to the admin API in a minute; the right one always passes',
  ),
  TRUSTED_PROXIES: list('')
    .superRefine(refuseUnknownProxies)
    .describe(
      'Proxies whose X-Forwarded-For is believed: addresses, CIDRs, or the names loopback, linklocal, uniquelocal',
    ),
  MAX_CONNECTIONS_PER_CLIENT: count(512).describe(
    'Open connections of one remote address (IPv6: /64) to each listener; trusted proxies are exempt',
  ),
  MIN_CLIENT_BYTES_PER_S: count(8192).describe('Least pace of a client that sends a body or takes an answer'),
  CLIENT_PACE_WINDOW_MS: millis(30_000)
    .refine((value) => value >= 100, 'at least 100')
    .describe('Time of waiting for a client over which its pace is judged'),
  HEAD_TIMEOUT_MS: count(30_000).describe('Longest time for the head of a request'),
  BODY_TIMEOUT_MS: count(3_900_000).describe('Longest time for the body of a request; longer than that of any service'),
  ANSWER_TIMEOUT_MS: count(900_000).describe('Longest time in which a client has to take an answer'),
  PICTURE_FREE_CPU_MS: count(300).describe(
    'Processor time that each picture, and the look at each uploaded video, may take without being counted',
  ),
  REFUSED_PICTURE_CPU_MS: count(100).describe(
    'Counted for each picture that is refused because it cannot be read, beside its own counted processor time',
  ),
  PICTURE_CPU_MS_PER_S: count(500).describe(
    'Counted processor time that pictures and looks at videos of one subject may take in a second, in the long run',
  ),
  PICTURE_CPU_BURST_MS: count(30_000).describe('Counted processor time they may take at once after a rest'),
  SLOT_LEASE_MS: millis(15_000).describe('Time after which the in-flight slots of a dead gateway free themselves'),
  CONNECT_TIMEOUT_MS: millis(3000).describe('Longest wait for a connection to a service'),
  UPSTREAM_IDLE_MS: millis(120_000).describe('Longest silence of a service before its call is given up'),
  UPSTREAM_READ_MS: millis(15_000).describe('The same for reads; longer than the service waits for its own database'),
  ADMIN_CALL_TIMEOUT_MS: millis(60_000).describe('Deadline of a call that an operator makes through the admin API'),
});

export type Config = z.output<typeof configSchema>;

/** Addresses of the services behind the gateway. */
export function ownerUrls(config: Config) {
  return {
    tasks: config.TASKS_URL,
    images: config.IMAGES_URL,
    results: config.RESULTS_URL,
    quota: config.QUOTA_URL,
  };
}

/** Addresses whose names resolve to every replica of those services, as far as they are known. */
export function replicaUrls(config: Config) {
  return {
    tasks: config.TASKS_REPLICAS_URL ?? config.TASKS_URL,
    images: config.IMAGES_REPLICAS_URL ?? config.IMAGES_URL,
    results: config.RESULTS_REPLICAS_URL ?? config.RESULTS_URL,
    quota: config.QUOTA_REPLICAS_URL ?? config.QUOTA_URL,
  };
}

/** What the pictures of a subject may cost. */
export function budgetLimits(config: Config) {
  return {
    freeMs: config.PICTURE_FREE_CPU_MS,
    refusedMs: config.REFUSED_PICTURE_CPU_MS,
    perSecondMs: config.PICTURE_CPU_MS_PER_S,
    burstMs: config.PICTURE_CPU_BURST_MS,
  };
}

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return loadConfig(configSchema, env);
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
