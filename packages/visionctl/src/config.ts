import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import type { KafkaConnection } from '@vision/kafka/kafka';
import type { WantedTopic } from '@vision/kafka/topics-config';
import type { ObjectStoreOptions } from '@vision/objects/call-store';
import { unknownSettings } from '@vision/shared/start/unknown-settings';
import { UsageError } from './usage-error.ts';

/** Addresses and secrets of the system that is operated. */
export interface Settings {
  adminUrl: () => string;
  adminToken: () => string;
  /** Loads its schemas only for commands that need them: the others start in a fraction of the time. */
  kafka: () => Promise<KafkaSettings>;
  objectStore: () => Promise<ObjectStoreOptions>;
  /** Every setting that is there, by name. */
  values: Record<string, string>;
  /** Who acts, for the audit log. */
  operator: string;
}

/** Connection to the brokers, and the desired topics. */
interface KafkaSettings {
  connection: KafkaConnection;
  wanted: WantedTopic[];
}

/** What every command may read. */
const OWN = ['ADMIN_URL', 'ADMIN_TOKEN', 'VISION_OPERATOR', 'VISION_LOCAL_DIR'];

export interface Surroundings {
  user?: () => { username: string };
  /** Receives a line about each variable whose name is similar to that of a setting. */
  warn?: (line: string) => void;
}

/**
 * The environment, completed by the file that the local system writes: `$VISION_LOCAL_DIR/env`,
 * by default `.local/env`.
 */
export function readSettings(
  env: NodeJS.ProcessEnv = process.env,
  { user = userInfo, warn = () => undefined }: Surroundings = {},
): Settings {
  const warnOfMisspelt = (known: string[]) => misspelt(known, env).forEach(warn);
  warnOfMisspelt(OWN);
  const file = join(env['VISION_LOCAL_DIR'] || '.local', 'env');
  const values = { ...readEnvFile(file), ...withoutEmpty(env) };
  const need = (name: string) => () => {
    const value = values[name] ?? readSecretFile(name, values[`${name}_FILE`]);
    if (value === undefined) throw new UsageError(`${name} is not set, and ${file} does not name it: set it.`);
    return value;
  };
  return {
    adminUrl: () => need('ADMIN_URL')().replace(/\/+$/, ''),
    // The gateway accepts several during a rotation.
    adminToken: () => need('ADMIN_TOKEN')().split(',')[0]?.trim() ?? '',
    kafka: () => readKafka(values, warnOfMisspelt),
    objectStore: () => readObjectStore(values, warnOfMisspelt),
    values,
    operator: values['VISION_OPERATOR'] ?? safeName(nameOf(user)),
  };
}

type Values = Record<string, string | undefined>;
type WarnOfMisspelt = (known: string[]) => void;

/** Warns only of names similar to a setting: the environment may contain variables of other programs. */
function misspelt(known: string[], env: NodeJS.ProcessEnv): string[] {
  return unknownSettings(known, env).flatMap(({ variable, meant }) =>
    meant === undefined ? [] : [`visionctl: ${variable} is no setting and has no effect; ${meant} is one.`],
  );
}

async function readKafka(values: Values, warnOfMisspelt: WarnOfMisspelt): Promise<KafkaSettings> {
  const { kafkaConfig, kafkaConnection } = await import('@vision/kafka/kafka-config');
  const { wantedTopics } = await import('@vision/kafka/topics-config');
  warnOfMisspelt(Object.keys(kafkaConfig));
  return parsed(kafkaConfig, values, (config) => ({
    connection: kafkaConnection(config),
    wanted: wantedTopics(config.TOPICS),
  }));
}

async function readObjectStore(values: Values, warnOfMisspelt: WarnOfMisspelt): Promise<ObjectStoreOptions> {
  const { objectStoreConfig, objectStoreOptions } = await import('@vision/objects/object-store-config');
  warnOfMisspelt(Object.keys(objectStoreConfig));
  return parsed(objectStoreConfig, values, objectStoreOptions);
}

/** The settings of services, read as services read them. @throws UsageError naming every setting that is wrong. */
async function parsed<S extends z.ZodRawShape, T>(
  shape: S,
  values: Values,
  use: (config: z.output<z.ZodObject<S>>) => T,
): Promise<T> {
  const { ConfigError, loadConfig } = await import('@vision/shared/config');
  const { object } = await import('zod');
  try {
    return use(loadConfig(object(shape), values));
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
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
