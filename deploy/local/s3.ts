import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'minio';
import { ensureRunning } from './background.ts';
import { jarsOf } from './jars.ts';
import type { Secrets } from './secrets.ts';
import { dataDir, portOf, root, urlOf, type Settings } from './settings.ts';
import { answersOk } from './wait.ts';

/** An S3 service and the bucket in it. */
export interface ObjectStore {
  endpoint: string;
  region: string;
  bucket: string;
  accessKey: string;
  secretKey: string;
}

export function localObjectStore(settings: Settings, secrets: Secrets): ObjectStore {
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
  const conf = join(dir, 's3proxy.conf');
  const port = portOf(settings, 's3');
  const logging = `-Dlogback.configurationFile=${join(root, 'deploy/local/s3/logback.xml')}`;
  mkdirSync(objects, { recursive: true });
  const values: Record<string, string> = {
    PORT: String(port),
    ACCESS_KEY: secrets.S3_ACCESS_KEY,
    SECRET_KEY: secrets.S3_SECRET_KEY,
    DATA: objects,
  };
  const template = readFileSync(join(root, 'deploy/local/s3/s3proxy.conf'), 'utf8');
  writeFileSync(
    conf,
    template.replace(/@([A-Z_]+)@/g, (_, name: string) => values[name] ?? ''),
    { mode: 0o600 },
  );
  await ensureRunning(settings, {
    name: 's3',
    command: 'java',
    args: ['-Xmx512m', '-XX:+UseSerialGC', logging, '-cp', jars, 'org.gaul.s3proxy.Main', '--properties', conf],
    port,
    cwd: dir,
    ready: () => answersOk(`${urlOf(settings, 's3')}/healthz`),
  });
}

export async function ensureBucket(store: ObjectStore): Promise<void> {
  const url = new URL(store.endpoint);
  const client = new Client({
    endPoint: url.hostname,
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    useSSL: url.protocol === 'https:',
    region: store.region,
    accessKey: store.accessKey,
    secretKey: store.secretKey,
    pathStyle: true,
  });
  if (!(await client.bucketExists(store.bucket))) await client.makeBucket(store.bucket, store.region);
}
