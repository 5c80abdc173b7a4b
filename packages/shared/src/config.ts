import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Raised once with every problem of the environment, so that an operator fixes them in one go. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Parses the environment against a zod object schema.
 *
 * `NAME_FILE` is read when `NAME` is absent (mounted secrets). Empty strings count as absent. Values never appear in
 * the error text, names and descriptions do.
 * @throws ConfigError naming every variable that is missing or wrong.
 */
export function loadConfig<T extends z.ZodObject>(schema: T, env: Record<string, string | undefined>): z.output<T> {
  const input: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = env[name] ?? readSecretFile(env[`${name}_FILE`]);
    if (value !== undefined && value !== '') input[name] = value;
  }
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? '');
    const description = (schema.shape[name] as z.ZodType | undefined)?.description;
    return `  ${name}: ${issue.message}${description ? ` (${description})` : ''}`;
  });
  throw new ConfigError(`The environment is not usable:\n${[...new Set(problems)].join('\n')}`);
}

function readSecretFile(path: string | undefined): string | undefined {
  return path ? readFileSync(path, 'utf8').trim() : undefined;
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

/** Settings that every service has. */
export const serviceConfig = {
  HOST: z.string().default('0.0.0.0').describe('Address the listeners bind to'),
  PORT: port(8080).describe('Port of the HTTP API'),
  HEALTH_PORT: port(9090).describe('Port of health checks and metrics; never exposed'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Log level'),
  SHUTDOWN_GRACE_MS: millis(25_000).describe(
    'On a stop, longest time for requests under way; docs/operations.md adds the later phases',
  ),
};

/** Settings of every service that talks to its own database. */
export const databaseConfig = {
  DATABASE_URL: z.string().min(1).describe('PostgreSQL address of the own database'),
  DATABASE_POOL: count(10).describe('Connections kept to PostgreSQL'),
};

/** Setting of every service whose dates come from its database. */
export const databaseClockConfig = {
  CLOCK_OFFSET: z
    .string()
    .regex(/^-?\d+ (seconds|minutes|hours|days)$/)
    .default('0 seconds')
    .describe('Added to the database clock that decides days and expiry; for tests'),
};

/** Setting of the services that keep what a create has made. */
export const retentionConfig = {
  RETENTION_DAYS: count(90).describe('Days that tasks, pictures, results and keys are kept'),
};

/** Settings of every service that compares its state with that of others. */
export const auditConfig = {
  AUDIT_INTERVAL_MS: millis(10_000).describe('Pause between two rounds of the audits'),
  AUDIT_AGE_MS: millis(60_000).describe('Age at which a difference that an audit found counts'),
};

/** Settings of every service that publishes or consumes events. */
export const kafkaConfig = {
  KAFKA_BROKERS: list('')
    .refine((brokers) => brokers.length > 0, 'at least one broker')
    .describe('Kafka brokers, host:port, comma separated'),
  TOPIC_PREFIX: z.string().default('').describe('Put before every topic and consumer group name'),
};

/** Settings of every service that stores objects. */
export const objectStoreConfig = {
  S3_ENDPOINT: httpUrl().describe('Address of the S3 service'),
  S3_REGION: z.string().default('us-east-1').describe('Region sent with S3 signatures'),
  S3_BUCKET: z.string().default('vision').describe('Bucket for uploads and pictures'),
  S3_ACCESS_KEY: z.string().min(1).describe('S3 access key'),
  S3_SECRET_KEY: z.string().min(1).describe('S3 secret key'),
};
