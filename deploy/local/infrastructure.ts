import type { ObjectStoreOptions } from '@vision/objects/call-store';
import { installMissing } from './host-programs.ts';
import type { HostProgram } from './host-programs.ts';
import { ensureKafka, ensureLocalTopics, localBrokers } from './kafka.ts';
import { ensureDatabases, ensurePostgres, localDatabaseUrl } from './postgres.ts';
import { ensureRedis, localRedisUrl } from './redis.ts';
import { ensureBucket, ensureS3, localObjectStore } from './s3.ts';
import { loadSecrets } from './secrets.ts';
import type { Secrets } from './secrets.ts';
import type { Settings } from './settings.ts';

/** Where everything is, whether this copy started it or the environment named it. */
export interface Infrastructure {
  databaseUrl: string;
  redisUrl: string;
  brokers: string;
  objectStore: ObjectStoreOptions;
  secrets: Secrets;
}

interface Part {
  name: 'DATABASE_URL' | 'REDIS_URL' | 'KAFKA_BROKERS' | 'S3_ENDPOINT';
  needs: HostProgram[];
  start: () => Promise<void>;
}

/**
 * Starts every part that the environment does not name, then creates databases, topics and the bucket where missing.
 * `passwordsOf` gives the databases that there have to be, and the password of the role of the same name.
 */
export async function ensureInfrastructure(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  passwordsOf: (secrets: Secrets) => Record<string, string>,
): Promise<Infrastructure> {
  const secrets = loadSecrets(settings);
  const local = localInfrastructure(settings, secrets);
  const infrastructure = withGivenAddresses(local, env);
  const parts: Part[] = [
    { name: 'DATABASE_URL', needs: ['postgres'], start: () => ensurePostgres(settings, secrets) },
    { name: 'REDIS_URL', needs: ['redis'], start: () => ensureRedis(settings) },
    { name: 'KAFKA_BROKERS', needs: ['java', 'mvn'], start: () => ensureKafka(settings) },
    { name: 'S3_ENDPOINT', needs: ['java', 'mvn'], start: () => ensureS3(settings, secrets) },
  ];
  const addresses = addressesOf(local);
  const own = parts.filter(({ name }) => !env[name] || env[name] === addresses[name]);
  installMissing([...new Set(own.flatMap((part) => part.needs))]);
  await allOrFirstError(own.map((part) => part.start()));
  await Promise.all([
    ensureDatabases(infrastructure.databaseUrl, passwordsOf(secrets)),
    ensureLocalTopics(infrastructure.brokers),
    ensureBucket(infrastructure.objectStore),
  ]);
  return infrastructure;
}

/** The addresses under the names that everything reads them by. */
export function addressesOf(infrastructure: Infrastructure) {
  const { objectStore } = infrastructure;
  return {
    DATABASE_URL: infrastructure.databaseUrl,
    REDIS_URL: infrastructure.redisUrl,
    KAFKA_BROKERS: infrastructure.brokers,
    S3_ENDPOINT: objectStore.endpoint,
    S3_REGION: objectStore.region,
    S3_BUCKET: objectStore.bucket,
    S3_ACCESS_KEY: objectStore.accessKey,
    S3_SECRET_KEY: objectStore.secretKey,
  };
}

function localInfrastructure(settings: Settings, secrets: Secrets): Infrastructure {
  return {
    databaseUrl: localDatabaseUrl(settings, secrets),
    redisUrl: localRedisUrl(settings),
    brokers: localBrokers(settings),
    objectStore: localObjectStore(settings, secrets),
    secrets,
  };
}

function withGivenAddresses(local: Infrastructure, env: NodeJS.ProcessEnv): Infrastructure {
  const endpoint = env['S3_ENDPOINT'];
  return {
    databaseUrl: env['DATABASE_URL'] || local.databaseUrl,
    redisUrl: env['REDIS_URL'] || local.redisUrl,
    brokers: env['KAFKA_BROKERS'] || local.brokers,
    objectStore:
      endpoint && endpoint !== local.objectStore.endpoint ? givenObjectStore(env, endpoint) : local.objectStore,
    secrets: local.secrets,
  };
}

function givenObjectStore(env: NodeJS.ProcessEnv, endpoint: string): ObjectStoreOptions {
  const { S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = env;
  if (!accessKey || !secretKey)
    throw new Error('S3_ENDPOINT is given: S3_ACCESS_KEY and S3_SECRET_KEY are needed with it.');
  return {
    endpoint,
    region: env['S3_REGION'] || 'us-east-1',
    bucket: env['S3_BUCKET'] || 'vision',
    accessKey,
    secretKey,
  };
}

/** Lets every start finish, so that none is left half way when another one fails. */
export async function allOrFirstError(work: Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
