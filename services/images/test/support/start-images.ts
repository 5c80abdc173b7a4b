import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { topics } from '@vision/contracts/topics';
import { defaultLimits } from '@vision/contracts/limits';
import type { Problem } from '@vision/contracts/problem';
import type { Caller } from '@vision/shared/http/caller';
import { createLogger } from '@vision/shared/logger';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { hasten } from '@vision/shared/testing/hasten';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testPublicKeys, testServiceKey, testToken } from '@vision/shared/testing/service-keys';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { constants, readConfig } from '../../src/config.ts';
import { migrations } from '../../src/db/migrations/list.ts';
import { createService } from '../../src/service.ts';
import type { ImagesService } from '../../src/service.ts';
import { startFakeInference } from './fake-inference.ts';
import type { FakeInference } from './fake-inference.ts';
import { startFakeQuota } from './fake-quota.ts';
import type { FakeQuota } from './fake-quota.ts';
import { BOUNDARY, multipart } from './form.ts';
import type { Part } from './form.ts';

const logger = createLogger('images-test', process.env['TEST_LOG_LEVEL'] ?? 'silent');

export interface Detections {
  task_id: string;
  request_id: string;
  status: string;
  results: { seq: number; status: string; objects?: { label: string; score: number }[]; error_code?: string }[];
  replayed?: boolean;
}

export interface CallOptions {
  key?: string;
  query?: string;
  caller?: Partial<Caller>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** All dependencies of the service; they outlive it, so that a test can start it again. */
export interface World {
  database: TestDatabase;
  kafka: TestKafka;
  s3: TestS3;
  inference: FakeInference;
  quota: FakeQuota;
  spoolDir: string;
  env: Record<string, string>;
  close: () => Promise<void>;
}

/** `stop` stops the service and removes its world. */
export type TestImages = World & RunningImages;

/** `shared` topics outlive the world, because creating topics is slow. */
export async function createWorld(shared?: TestKafka): Promise<World> {
  const [database, kafka, s3, inference, quota, spoolDir] = await Promise.all([
    createTestDatabase(migrations),
    // The quota service that some tests start reads both.
    shared ?? testKafka({ topics: [topics.images, topics.tasks] }),
    testS3(),
    startFakeInference(),
    startFakeQuota(),
    mkdtemp(join(tmpdir(), 'images-test-')),
  ]);
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    HEALTH_PORT: '0',
    LOG_LEVEL: 'silent',
    DATABASE_URL: database.url,
    DATABASE_STANDBY: 'managed',
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY: s3.accessKey,
    S3_SECRET_KEY: s3.secretKey,
    SERVICE_KEY: testServiceKey('images'),
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    INFERENCE_URL: inference.url,
    // A test of a slow backend or store sets its own limits.
    DETECT_TIMEOUT_MS: '100000',
    CALL_TIMEOUT_MS: '110000',
    S3_IDLE_MS: '100000',
    QUOTA_URL: quota.url,
    SCENES_FILE: join(import.meta.dirname, '../../../../config/scenes.json'),
    SPOOL_DIR: spoolDir,
    // The neighbours run in the test process: a slow neighbour is not unavailable.
    QUOTA_TIMEOUT_MS: '100000',
    KEY_WAIT_MS: '100000',
    // No claim expires; a test of expiry sets its own lease.
    LEASE_MS: '600000',
  };
  return {
    database,
    kafka,
    s3,
    inference,
    quota,
    spoolDir,
    env,
    close: async () => {
      await Promise.all([inference.close(), quota.close(), s3.close(), database.drop()]);
      if (!shared) await kafka.close();
      await rm(spoolDir, { recursive: true });
    },
  };
}

export type RunningImages = ReturnType<typeof clientOf> & { service: ImagesService; stop: () => Promise<void> };

/** One replica in a world. */
export async function startReplica(world: World, over: Record<string, string> = {}): Promise<RunningImages> {
  const env = { ...world.env, ...over };
  const service = await createService(hasten(readConfig(env), constants, env), {
    logger,
    onFatal: (error) => logger.fatal(error),
  });
  await service.start();
  return {
    ...clientOf(`http://127.0.0.1:${service.port}`),
    service,
    stop: async () => {
      for (const phase of service.stopPhases) await phase.stop();
    },
  };
}

/** The service with its deployed wiring, between fake neighbours and real stores. */
export async function startImages(over: Record<string, string> = {}, shared?: TestKafka): Promise<TestImages> {
  const world = await createWorld(shared);
  const replica = await startReplica(world, over);
  return {
    ...world,
    ...replica,
    stop: async () => {
      await replica.stop();
      await world.close();
    },
  };
}

/** A request of the gateway for a caller: the token, and the body unchanged. */
export function clientOf(url: string) {
  const tokenOf = (caller: Partial<Caller> = {}) =>
    testToken('gateway', 'images', {
      subject: 'subject-a',
      limits: { ...defaultLimits, images_per_day: 1000 },
      ...caller,
    });
  const post = async (
    parts: Part[] | Buffer,
    { key = randomUUID(), query = '', caller, headers, signal }: CallOptions = {},
  ) =>
    fetch(`${url}/v1/vision/image-detections${query}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await tokenOf(caller)}`,
        'idempotency-key': key,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        ...headers,
      },
      body: Buffer.isBuffer(parts) ? parts : multipart(parts),
      signal: signal ?? null,
    });
  /** A read request of the tasks service. */
  const get = async (path: string, { subject = 'subject-a' }: { subject?: string } = {}) =>
    fetch(url + path, { headers: { authorization: `Bearer ${await testToken('tasks', 'images', { subject })}` } });
  /** A request of the tasks service with a body, to a replica at this address. */
  const askAt = async (base: string, path: string, body: object) => {
    const authorization = `Bearer ${await testToken('tasks', 'images', { subject: 'tasks' })}`;
    const headers = { authorization, 'content-type': 'application/json' };
    return fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  return {
    url,
    tokenOf,
    askAt,
    post,
    get,
    detect: async (parts: Part[] | Buffer, options?: CallOptions) => {
      const response = await post(parts, options);
      const body = (await response.json()) as Detections & Problem;
      return { status: response.status, body };
    },
    call: async (method: string, path: string) =>
      fetch(url + path, { method, headers: { authorization: `Bearer ${await tokenOf()}` } }),
  };
}
