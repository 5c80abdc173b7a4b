import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { CallingService } from '@vision/contracts/allowed-calls';
import type { SnapshotMode } from '@vision/contracts/create-query';
import { defaultLimits } from '@vision/contracts/limits';
import type { SubjectLimits } from '@vision/contracts/limits';
import { topics } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { ownPrefixOf } from '@vision/objects/own-prefix';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { hasten } from '@vision/shared/testing/hasten';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { startQuota } from '@vision/creation/testing/real-quota';
import type { RealQuota } from '@vision/creation/testing/real-quota';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { testPublicKeys, testServiceKey, testToken } from '@vision/shared/testing/service-keys';
import { startScriptedBackend } from '@vision/shared/testing/scripted-backend';
import type { ScriptedBackend } from '@vision/shared/testing/scripted-backend';
import { constants, readConfig } from '../../src/config.ts';
import { migrations } from '../../src/db/migrations/list.ts';
import { createService } from '../../src/service.ts';
import type { TasksService } from '../../src/service.ts';
import type { Settings } from '../../src/use-cases/deps.ts';
import { startStream } from './media.ts';
import type { TestStream } from './media.ts';

/**
 * Dependencies of the tasks service, all real except the backend, which implements the contract and fails on demand.
 */
export interface World {
  database: TestDatabase;
  kafka: TestKafka;
  s3: TestS3;
  quota: RealQuota;
  backend: ScriptedBackend;
  stream: TestStream;
  /** Environment of a tasks process. */
  env: Record<string, string>;
  /** Object key of the video of a task uploaded now. */
  videoOf: (taskId: string) => Promise<string>;
  close: () => Promise<void>;
}

export async function createWorld(env: Record<string, string> = {}): Promise<World> {
  const database = await createTestDatabase(migrations, { poolMax: 10 });
  const kafka = await testKafka({ topics: [topics.tasks, topics.images, topics.results] });
  const s3 = await testS3();
  const quota = await startQuota({ kafka });
  const backend = await startScriptedBackend();
  const stream = await startStream();
  return {
    database,
    kafka,
    s3,
    quota,
    backend,
    stream,
    videoOf: async (taskId) => (await ownPrefixOf({ db: database.db, name: 'videos', prefix: 'videos/' })) + taskId,
    env: {
      HOST: '127.0.0.1',
      PORT: '0',
      HEALTH_PORT: '0',
      DATABASE_URL: database.url,
      KAFKA_BROKERS: kafka.brokers.join(','),
      TOPIC_PREFIX: kafka.topicPrefix,
      SERVICE_KEY: testServiceKey('tasks'),
      SERVICE_PUBLIC_KEYS: testPublicKeys,
      CURSOR_KEYS: Buffer.alloc(32, 8).toString('base64'),
      STREAM_URL_KEY: Buffer.alloc(32, 7).toString('base64'),
      S3_ENDPOINT: s3.endpoint,
      S3_REGION: s3.region,
      S3_BUCKET: s3.bucket,
      S3_ACCESS_KEY: s3.accessKey,
      S3_SECRET_KEY: s3.secretKey,
      QUOTA_URL: quota.url,
      INFERENCE_URL: backend.url,
      SCENES_FILE: fileURLToPath(new URL('../../../../config/scenes.json', import.meta.url)),
      STREAM_ALLOWED_CIDRS: '127.0.0.0/8',
      PROBES_AT_ONCE: '1000',
      PROBES_PER_MINUTE: '100000',
      // The parts of a world share two cores with other tests: a slow part is not unavailable.
      SERVICE_TIMEOUT_MS: '100000',
      S3_IDLE_MS: '100000',
      PROBE_CONNECT_MS: '100000',
      PROBE_TOTAL_MS: '100000',
      KEY_WAIT_MS: '100000',
      // A replica that starts alone takes no lease over for one lease period.
      LEASE_MS: '3000',
      RECONCILE_MS: '100',
      QUIET_RECONCILE_MS: '100',
      RESOLVING_RECONCILE_MS: '100',
      RECOVERY_MS: '200',
      STOP_WAIT_MS: '100000',
      BREAKER_RESET_MS: '500',
      ...env,
    },
    close: async () => {
      await stream.close();
      await backend.close();
      await quota.stop();
      await s3.close();
      await kafka.close();
      await database.drop();
    },
  };
}

/** Columns that the tests read. */
export interface StoredTask {
  task_id: string;
  status: string;
  object_key: string | null;
  reason: string | null;
  check_at: Date | null;
  job_missing_since: Date | null;
  job_seen_at: Date | null;
  job_ended_at: Date | null;
  results_attempt: number | null;
}

/** Rows of tasks, hidden ones included. */
export async function storedTasks(world: World, where: Record<string, unknown>): Promise<StoredTask[]> {
  return world.database.db('tasks').where(where).select<StoredTask[]>('*');
}

export interface CallOptions {
  subject?: string;
  /** The calling service; the gateway by default. */
  issuer?: CallingService;
  key?: string;
  body?: unknown;
  raw?: RequestInit;
  limits?: Partial<SubjectLimits>;
  maintenance?: { reason: string };
  /** Setting of the subject. */
  snapshots?: SnapshotMode | undefined;
}

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  body: Record<string, unknown> & { task_id: string; status: string; code?: string; details?: Record<string, unknown> };
}

/** Calls the service like the gateway. */
export async function callService(
  port: number,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { subject = 'subject-a', issuer = 'gateway', key, body, limits, maintenance, snapshots, raw } = options;
  const caller = { subject, limits: { ...defaultLimits, ...limits }, maintenance, snapshots };
  const token = await testToken(issuer, 'tasks', caller);
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...raw,
    headers: {
      authorization: `Bearer ${token}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });
  const bytes = Buffer.from(await reply.arrayBuffer());
  return { status: reply.status, headers: reply.headers, bytes, body: parsed(bytes) };
}

function parsed(bytes: Buffer): Answer['body'] {
  try {
    return JSON.parse(bytes.toString()) as Answer['body'];
  } catch {
    return {} as Answer['body'];
  }
}

export interface TestTasks {
  service: TasksService;
  port: number;
  /** All log output. */
  log: () => string;
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
  /** Calls like the gateway in the name of an operator. */
  asOperator: (method: string, path: string, body?: unknown) => Promise<Answer>;
  create: (options?: CallOptions & { url?: string; scene?: string }) => Promise<Answer>;
  stop: () => Promise<void>;
}

/** The backend runs in this process, so a query may take as long as this process is delayed. */
export const patientSettings: Partial<Settings> = { questionLimitMs: 100_000 };

/** Starts the service in this process, on the given world. */
export async function startTasks(
  world: World,
  env: Record<string, string> = {},
  changed: Partial<Settings> = Object.hasOwn(env, 'SUBMIT_TIMEOUT_MS') ? {} : patientSettings,
): Promise<TestTasks> {
  let log = '';
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      log += chunk.toString();
      done();
    },
  });
  const logger = createLogger('tasks', 'debug', sink);
  const given = { ...world.env, ...env };
  const service = await createService(
    hasten(readConfig(given), constants, given),
    {
      logger,
      onFatal: (error) => logger.fatal({ err: error }),
    },
    changed,
  );
  await service.start();
  const call = (method: string, path: string, options?: CallOptions) =>
    callService(service.port, method, path, options);
  return {
    service,
    port: service.port,
    log: () => log,
    call,
    asOperator: (method, path, body) => call(method, path, { subject: 'operator', body }),
    create: ({ url = world.stream.url, scene = 'person_vehicle', ...options } = {}) =>
      call('POST', '/v1/vision/tasks', {
        key: randomUUID(),
        body: { scene_code: scene, stream_url: url },
        ...options,
      }),
    stop: async () => {
      for (const phase of service.stopPhases) await phase.stop();
    },
  };
}
