import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createServiceKey } from '@vision/shared/service-keys';
import type { Settings } from './settings.ts';

const generators = {
  GATEWAY_SERVICE_KEY: () => createServiceKey('gateway').privateKey,
  TASKS_SERVICE_KEY: () => createServiceKey('tasks').privateKey,
  IMAGES_SERVICE_KEY: () => createServiceKey('images').privateKey,
  RESULTS_SERVICE_KEY: () => createServiceKey('results').privateKey,
  TASKS_CURSOR_KEYS: () => randomBytes(32).toString('base64'),
  RESULTS_CURSOR_KEYS: () => randomBytes(32).toString('base64'),
  NOTIFY_CURSOR_KEYS: () => randomBytes(32).toString('base64'),
  ADMIN_TOKEN: () => randomBytes(32).toString('base64url'),
  API_KEY_PEPPERS: () => `1:${randomBytes(32).toString('base64')}`,
  LINK_KEYS: () => `1:${randomBytes(32).toString('base64')}`,
  WEBHOOK_KEYS: () => `1:${randomBytes(32).toString('base64')}`,
  STREAM_URL_KEY: () => randomBytes(32).toString('base64'),
  POSTGRES_PASSWORD: () => randomBytes(18).toString('hex'),
  GATEWAY_DATABASE_PASSWORD: () => randomBytes(18).toString('hex'),
  TASKS_DATABASE_PASSWORD: () => randomBytes(18).toString('hex'),
  IMAGES_DATABASE_PASSWORD: () => randomBytes(18).toString('hex'),
  RESULTS_DATABASE_PASSWORD: () => randomBytes(18).toString('hex'),
  QUOTA_DATABASE_PASSWORD: () => randomBytes(18).toString('hex'),
  NOTIFY_DATABASE_PASSWORD: () => randomBytes(18).toString('hex'),
  INFERENCE_DATABASE_PASSWORD: () => randomBytes(18).toString('hex'),
  S3_ACCESS_KEY: () => randomBytes(10).toString('hex'),
  S3_SECRET_KEY: () => randomBytes(20).toString('hex'),
};

export type Secrets = Record<keyof typeof generators, string>;

/** The secrets of this copy, made at the first call and kept in a file that only its owner can read. */
export function loadSecrets(settings: Settings): Secrets {
  const file = join(settings.localDir, 'secrets');
  const known = readEnvFile(file);
  const secrets = completeSecrets(known);
  if (Object.keys(secrets).some((name) => known[name] === undefined)) writeEnvFile(file, secrets);
  return secrets;
}

/** All secrets, random ones for those that are not known or empty. */
export function completeSecrets(known: Record<string, string | undefined>): Secrets {
  return Object.fromEntries(
    Object.entries(generators).map(([name, generate]) => [name, known[name] || generate()]),
  ) as Secrets;
}

/** Lines of `NAME=value`, readable by a shell and by `node --env-file`. */
export function writeEnvFile(file: string, values: Record<string, string>, prefix = ''): void {
  mkdirSync(dirname(file), { recursive: true });
  const text = Object.entries(values)
    .map(([name, value]) => `${prefix}${name}=${value}\n`)
    .join('');
  writeFileSync(file, text, { mode: 0o600 });
}

export function readEnvFile(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  const lines = readFileSync(file, 'utf8').split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const match = /^(?:export )?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line);
      return match ? [[match[1], match[2]]] : [];
    }),
  ) as Record<string, string>;
}
