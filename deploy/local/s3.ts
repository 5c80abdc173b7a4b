import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectStoreOptions } from '@vision/objects/call-store';
import { createObjectStore } from '@vision/objects/object-store';
import { ensureRunning } from './background.ts';
import { jarsOf } from './jars.ts';
import type { Secrets } from './secrets.ts';
import { dataDir, portOf, root, urlOf } from './settings.ts';
import type { S3Keys, Settings } from './settings.ts';
import { answersOk } from './wait.ts';

export function localObjectStore(settings: Settings, secrets: Secrets): ObjectStoreOptions {
  return {
    endpoint: urlOf(settings, 's3'),
    region: 'us-east-1',
    bucket: 'vision',
    accessKey: secrets.S3_ACCESS_KEY,
    secretKey: secrets.S3_SECRET_KEY,
  };
}

export async function ensureS3(settings: Settings, secrets: Secrets): Promise<void> {
  const jars = join(jarsOf(settings, 's3'), '*');
  const dir = dataDir(settings, 's3');
  const objects = join(dir, 'objects');
  const port = portOf(settings, 's3');
  const logging = `-Dlogback.configurationFile=${join(root, 'deploy/local/s3/logback.xml')}`;
  mkdirSync(objects, { recursive: true });
  const own = { accessKey: secrets.S3_ACCESS_KEY, secretKey: secrets.S3_SECRET_KEY };
  const files = (settings.s3Keys ?? [own]).map((keys, index) => {
    const file = join(dir, `s3proxy-${index + 1}.conf`);
    writeFileSync(file, configurationOf({ port, objects, keys }), { mode: 0o600 });
    return file;
  });
  // One file for each pair of keys: all of them lead to the same objects.
  const configurations = files.flatMap((file) => ['--properties', file]);
  await ensureRunning(settings, {
    name: 's3',
    command: 'java',
    args: ['-Xmx512m', '-XX:+UseSerialGC', logging, '-cp', jars, 'org.gaul.s3proxy.Main', ...configurations],
    port,
    cwd: dir,
    ready: () => answersOk(`${urlOf(settings, 's3')}/healthz`),
  });
}

function configurationOf({ port, objects, keys }: { port: number; objects: string; keys: S3Keys }): string {
  const values: Record<string, string> = {
    PORT: String(port),
    ACCESS_KEY: keys.accessKey,
    SECRET_KEY: keys.secretKey,
    DATA: objects,
  };
  const template = readFileSync(join(root, 'deploy/local/s3/s3proxy.conf'), 'utf8');
  return template.replace(/@([A-Z_]+)@/g, (_, name: string) => values[name] ?? '');
}

export async function ensureBucket(options: ObjectStoreOptions): Promise<void> {
  const store = createObjectStore(options);
  try {
    await store.ensureBucket();
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`The S3 server at ${options.endpoint} gave no bucket: ${reason}`, { cause: error });
  } finally {
    store.close();
  }
}
