import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { ObjectStoreOptions } from '@vision/shared/object-store/exchange';
import { UsageError } from './usage-error.ts';

/** Addresses and secrets of the system that is operated. */
export interface Settings {
  adminUrl: () => string;
  adminToken: () => string;
  kafkaBrokers: () => string[];
  topicPrefix: string;
  objectStore: () => ObjectStoreOptions;
  /** Who acts, for the audit log. */
  operator: string;
}

/**
 * The environment, completed by the file that the local system writes: `$VISION_LOCAL_DIR/env`,
 * by default `.local/env`.
 */
export function readSettings(
  env: NodeJS.ProcessEnv = process.env,
  user: () => { username: string } = userInfo,
): Settings {
  const file = join(env['VISION_LOCAL_DIR'] || '.local', 'env');
  const values = { ...readEnvFile(file), ...withoutEmpty(env) };
  const need = (name: string) => () => {
    const value = values[name] ?? readSecretFile(name, values[`${name}_FILE`]);
    if (value === undefined) throw new UsageError(`${name} is not set, and ${file} does not name it: set it.`);
    return value;
  };
  return {
    adminUrl: () => need('ADMIN_URL')().replace(/\/+$/, ''),
    adminToken: need('ADMIN_TOKEN'),
    kafkaBrokers: () => need('KAFKA_BROKERS')().split(','),
    topicPrefix: values['TOPIC_PREFIX'] ?? '',
    objectStore: () => ({
      endpoint: need('S3_ENDPOINT')(),
      region: values['S3_REGION'] ?? 'us-east-1',
      bucket: values['S3_BUCKET'] ?? 'vision',
      accessKey: need('S3_ACCESS_KEY')(),
      secretKey: need('S3_SECRET_KEY')(),
    }),
    operator: values['VISION_OPERATOR'] ?? safeName(nameOf(user)),
  };
}

/** Secrets are often mounted as files: `ADMIN_TOKEN_FILE` names one that holds the value of `ADMIN_TOKEN`. */
function readSecretFile(name: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new UsageError(`${name}_FILE names ${path}, which cannot be read (${code}): correct the path.`);
  }
}

/** A container often runs as a number that has no name. */
function nameOf(user: () => { username: string }): string {
  try {
    return user().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

function readEnvFile(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  const lines = readFileSync(file, 'utf8').split('\n');
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^(?:export )?([A-Z][A-Z0-9_]*)=(.+)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(pairs);
}

function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => Boolean(pair[1])));
}

const safeName = (name: string) => name.replaceAll(/[^\w.@:-]/g, '_').slice(0, 64) || 'operator';
