import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { unknownSettings } from './start/unknown-settings.ts';
import type { StopSettings } from './stop-times.ts';

/** Raised once with every problem of the environment, so that an operator fixes them in one go. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Parses the environment against a zod object schema.
 *
 * `NAME_FILE` is read when `NAME` is absent (mounted secrets). Empty strings count as absent. The error text shows the
 * value that is wrong, unless it may be a secret.
 * @throws ConfigError naming every variable that is missing or wrong.
 */
export function loadConfig<T extends z.ZodObject>(schema: T, env: Record<string, string | undefined>): z.output<T> {
  const problems: string[] = [];
  const input: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    try {
      const value = env[name] || readSecretFile(name, env[`${name}_FILE`]);
      if (value) input[name] = value;
    } catch (error) {
      problems.push(`  ${(error as Error).message}`);
    }
  }
  const parsed = schema.safeParse(input);
  if (parsed.success && problems.length === 0) return parsed.data;
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0] ?? '');
    // The error for an unreadable file explains more than the one for a missing value.
    if (input[name] === undefined && env[`${name}_FILE`]) continue;
    const description = (schema.shape[name] as z.ZodType | undefined)?.description;
    problems.push(`  ${name}: ${messageOf(issue, name, input[name])}${description ? ` (${description})` : ''}`);
  }
  throw new ConfigError(`The environment is not usable:\n${[...new Set(problems)].join('\n')}`);
}

/** Fixed numbers and texts of a service, under the names they had or could have as settings. */
export type Constants = Readonly<Record<string, number | string>>;

/** The constants that the environment tries to set: settings of an earlier release, which are no longer read. */
export function retiredSettings(constants: Constants, env: Record<string, string | undefined> = process.env): string[] {
  return Object.keys(constants).filter((name) => env[name] || env[`${name}_FILE`]);
}

function messageOf(issue: z.core.$ZodIssue, name: string, value: string | undefined): string {
  if (value === undefined) return issue.code === 'invalid_type' ? 'is missing' : issue.message;
  return mayShow(name, value) ? `${issue.message}, not ${JSON.stringify(value.slice(0, 100))}` : issue.message;
}

/** Whether a message may show the value: not if its name marks it as secret or it is an address with a password. */
const mayShow = (name: string, value: string) =>
  !/(TOKEN|SECRET|PASSWORD|PEPPERS|KEYS?|DATABASE_URL|REDIS_URL)$/.test(name) && !value.includes('@');

function readSecretFile(name: string, path: string | undefined): string | undefined {
  if (!path) return undefined;
  try {
    // Editors and `echo` end a file with a line break; blanks may belong to a password.
    return readFileSync(path, 'utf8').replace(/[\r\n]+$/, '');
  } catch (error) {
    throw new ConfigError(`${name}_FILE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}

/** TCP port, 0 for any free one. */
export const port = (fallback: number) => z.coerce.number().int().min(0).max(65535).default(fallback);
/** A duration in milliseconds. */
export const millis = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
/** A positive whole number. */
export const count = (fallback: number) => z.coerce.number().int().min(1).default(fallback);
/** true/false, 1/0, yes/no. */
export const flag = (fallback: boolean) => z.stringbool().default(fallback);
/** An http(s) base address without a trailing slash. */
export const httpUrl = () => z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));
/** Comma separated list, blanks trimmed, empty entries dropped. */
export const list = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    );

/** Comma separated tokens, all accepted during a rotation; the first is sent. */
export const tokens = (least: number) =>
  z
    .string()
    .transform((text) => text.split(',').map((token) => token.trim()))
    .refine((all) => all.every((token) => token.length >= least), `at least ${least} characters each, comma separated`);

/** Settings that every service has. */
export const serviceConfig = {
  HOST: z.string().default('0.0.0.0').describe('Address that the listeners bind to'),
  PORT: port(8080).describe('Port of the HTTP API'),
  HEALTH_PORT: port(9090).describe('Port of health checks and metrics; never exposed'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Log level'),
  KEEP_ALIVE_MS: millis(75_000).describe(
    'Idle time after which a keep-alive connection is closed; must be longer than the idle timeout of the proxy in front',
  ),
  DRAIN_DELAY_MS: millis(0).describe(
    'Time after a stop signal during which requests are still accepted while the readiness check fails, for load balancers',
  ),
  SHUTDOWN_GRACE_MS: millis(25_000).describe(
    'Maximum time for requests in progress after that delay; docs/operations.md lists the other phases of a stop',
  ),
};

/** Constant of every service whose dates come from its database. */
export const databaseClockConstants = {
  /** Offset added to the database clock for days and expiry: `3 hours`, `-91 days`. Only tests shift it. */
  CLOCK_OFFSET: '0 seconds',
};

/** Setting of the services that store results of create requests. */
export const retentionConfig = {
  RETENTION_DAYS: count(90).describe(
    'Days that tasks, results, uploaded files and idempotency keys are retained; the same for tasks, images and ' +
      'results. A task keeps the date of its creation, but a lower value removes its frames at once',
  ),
};

/** Constants of every service that compares its state with that of others. */
export const auditConstants = {
  /** Interval between two runs of an audit. */
  AUDIT_INTERVAL_MS: 60_000,
  /** Minimum age of a difference before it is reported. */
  AUDIT_AGE_MS: 60_000,
};

/** Setting of every service that removes unused stored objects. */
export const sweepGraceConfig = {
  SWEEP_GRACE_MS: millis(7 * 86_400_000).describe(
    'Time between marking a stored object that no row refers to and deleting it',
  ),
};

/** Constants of every service that sweeps the bucket for unused objects. */
export const sweepConstants = {
  /** Interval between two sweeps over all stored objects; sweeps in between list new objects only. */
  FULL_SWEEP_INTERVAL_MS: 7 * 86_400_000,
  /** Minimum age of a stored object that no row refers to before it is marked. */
  ORPHAN_AGE_MS: 86_400_000,
};

/** Reads the settings that limit the duration of a stop. */
export function readStopSettings(env: Record<string, string | undefined> = process.env): StopSettings {
  const { DRAIN_DELAY_MS, SHUTDOWN_GRACE_MS } = serviceConfig;
  return loadConfig(z.object({ DRAIN_DELAY_MS, SHUTDOWN_GRACE_MS }), env);
}

/** Variables that are probably misspelt settings of a service. */
export const readUnknownSettings = (
  { shape }: { shape: Record<string, unknown> },
  env: Record<string, string | undefined> = process.env,
) => unknownSettings(Object.keys(shape), env);

/** Setting of every service that publishes events from an outbox. */
export const outboxConfig = {
  OUTBOX_KEEP_HOURS: count(168).describe(
    'Hours that published events are retained for republishing after a loss of Kafka; about 2 kB per event',
  ),
};
