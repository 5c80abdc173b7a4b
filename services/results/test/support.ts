import { randomBytes, randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallingService } from '@vision/contracts/allowed-calls';
import { frameProduced, jobEnded } from '@vision/contracts/frame-events';
import type { FrameData, JobEndedData } from '@vision/contracts/frame-events';
import { taskChanged } from '@vision/contracts/task-events';
import type { TaskSnapshot } from '@vision/contracts/task-events';
import type { InternalTask } from '@vision/contracts/tasks';
import { topics } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { createProducer } from '@vision/kafka/producer';
import type { EventProducer } from '@vision/kafka/producer';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { hasten } from '@vision/shared/testing/hasten';
import { KEPT_MS } from '@vision/shared/testing/kept-connections';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testPublicKeys, testServiceKey, testToken } from '@vision/shared/testing/service-keys';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { constants, readConfig } from '../src/config.ts';
import { migrations } from '../src/db/migrations/list.ts';
import { decodeHeads } from '@vision/contracts/segments/head';
import { openBody } from '../src/domain/segments/segment.ts';
import { toStored } from '../src/domain/stored-objects.ts';
import { createService } from '../src/service.ts';
import type { ResultsService } from '../src/service.ts';
import { createRuleBook } from '../src/use-cases/rules/rule-book.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

export const logger = createLogger('results-test', process.env['TEST_LOG_LEVEL'] ?? 'silent');

/** Settings for tests that build a part of the service. */
export const testSettings = {
  retentionDays: 90,
  snapshotDays: 30,
  orphanAgeMs: 0,
  fullSweepMs: 604_800_000,
  sweepGraceMs: 0,
  endPatienceMs: 900_000,
  framePatienceMs: 60_000,
  auditAgeMs: 60_000,
  hotMs: 600_000,
};

/** For tests that store frames without following alarm rules. */
export const noRules = { stored: () => undefined, stop: () => Promise.resolve() };

/** Dependencies of a fold beside its stores, without running parts that it could wake. */
export const foldParts = (db: Knex) => ({
  arrivals: { completeUntil: () => Promise.resolve(undefined) },
  rules: createRuleBook(db),
  wakeRelay: () => undefined,
});

/** A stored frame in any form; undefined objects are in the object store. */
export interface StoredForTest {
  seq: number;
  attempt: number;
  objects: string | undefined;
}

/** The stored frames of a task in the order of their numbers; a frame that is stored twice is returned twice. */
export async function storedFrames(db: Knex, taskId: string): Promise<StoredForTest[]> {
  const rows = await db('frames').where({ task_id: taskId }).select<StoredForTest[]>('seq', 'attempt', 'objects');
  const segments = await db('segments')
    .where({ task_id: taskId })
    .select<{ heads: Buffer; body: Buffer | null }[]>('heads', 'body');
  const inSegments = segments.flatMap(({ heads: packed, body }) => {
    const heads = decodeHeads(packed);
    const opened = body && openBody(body, heads);
    return heads.map(({ seq, attempt }, index) => {
      const objects = opened?.objectsOf(index);
      return { seq, attempt, objects: typeof objects === 'object' ? toStored(objects) : objects };
    });
  });
  return [...rows, ...inSegments].sort((a, b) => a.seq - b.seq);
}

/** Number of frames of a task in rows, in hot segments and in the object store. */
export async function formsOf(db: Knex, taskId: string): Promise<{ rows: number; hot: number; cold: number }> {
  const { rows } = await db.raw<{ rows: [{ rows: number; hot: number; cold: number }] }>(
    `select (select count(*) from frames where task_id = :taskId) as rows,
            coalesce(sum(frames) filter (where body is not null), 0)::int as hot,
            coalesce(sum(frames) filter (where body is null), 0)::int as cold
       from segments where task_id = :taskId`,
    { taskId },
  );
  return rows[0];
}

export const testResults = () => createTestDatabase(migrations, { poolMax: 10 });

/** A task id as the tasks service generates them, created at this time. */
export function taskIdAt(time: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(time, 0, 6);
  bytes.writeUInt8(0x70 | ((bytes[6] ?? 0) & 0x0f), 6);
  bytes.writeUInt8(0x80 | ((bytes[8] ?? 0) & 0x3f), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
export const newTaskId = () => taskIdAt(Date.now());

export const object = (score: number, label = 'person') => ({
  label,
  score,
  bbox: { format: 'cxcywh_normalized' as const, cx: 0.5, cy: 0.5, width: 0.1, height: 0.2 },
  track_id: '7',
});

export const frame = (taskId: string, seq: number, facts: Partial<FrameData> = {}): FrameData => ({
  job_id: taskId,
  attempt: 1,
  seq,
  frame_time_ms: seq * 200,
  image: { width: 1280, height: 720 },
  objects: [object(0.5), object(0.9, 'car'), object(0.85)],
  ...facts,
});

export const mark = (taskId: string, facts: Partial<JobEndedData> = {}): JobEndedData => ({
  job_id: taskId,
  attempt: 1,
  status: 'succeeded',
  frames_published: 0,
  ...facts,
});

const DAY_MS = 86_400_000;

export function snapshot(taskId: string, subject: string, facts: Partial<TaskSnapshot> = {}): TaskSnapshot {
  const created = parseInt(taskId.slice(0, 8) + taskId.slice(9, 13), 16);
  return {
    task_id: taskId,
    version: 1,
    subject,
    kind: 'upload',
    request_id: randomUUID(),
    scene_code: 'person_vehicle',
    status: 'running',
    lower_bound: 0.3,
    default_min_score: 0.8,
    attempt: 1,
    reservation_id: `${taskId}/1`,
    created_at: new Date(created).toISOString(),
    updated_at: new Date(created).toISOString(),
    result_expires_at: new Date(created + 90 * DAY_MS).toISOString(),
    ...facts,
  };
}

/** The task in the response of the tasks service to other services. */
export const internalTask = (task: TaskSnapshot): InternalTask => ({ ...task, job_seen: true, age_s: 1 });

/** An image call in the response of the images service to other services. */
export const imageCall = (taskId: string, subject: string) => ({
  task_id: taskId,
  version: 1,
  subject,
  kind: 'image',
  request_id: randomUUID(),
  scene_code: 'person_vehicle',
  status: 'succeeded',
  reservation_id: `${taskId}/1`,
  images_total: 1,
  images_succeeded: 1,
  created_at: new Date().toISOString(),
  updated_at: new Date().toISOString(),
  result_expires_at: new Date().toISOString(),
});

export interface Neighbour {
  url: string;
  /** Response for each path; any other path gets 404. */
  answers: Map<string, { status: number; body: object }>;
  asked: string[];
  stop: () => Promise<void>;
}

/** Stands in for tasks or images, with responses that a test sets. */
async function startNeighbour(): Promise<Neighbour> {
  const answers: Neighbour['answers'] = new Map();
  const asked: string[] = [];
  const server = createServer({ keepAliveTimeout: KEPT_MS }, (req, res) => {
    asked.push(req.url ?? '');
    const notFound = { type: 'about:blank', title: 'x', status: 404, detail: 'x', instance: 'x' };
    const { status, body } = answers.get(req.url ?? '') ?? {
      status: 404,
      body: { ...notFound, details: { reason: 'not_found' }, trace_id: '', retryable: false },
    };
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface TestResults {
  database: TestDatabase;
  kafka: TestKafka;
  s3: TestS3;
  producer: EventProducer;
  service: ResultsService;
  tasks: Neighbour;
  images: Neighbour;
  get: (path: string, subject?: string) => Promise<Response>;
  call: (method: string, path: string, subject?: string, issuer?: CallingService) => Promise<Response>;
  /** A request with a body and without a subject. */
  ask: (path: string, body: unknown) => Promise<Response>;
  /** Publishes events and waits until the service has processed all of them; returns the outcome of each. */
  deliver: (events: (FrameData | JobEndedData)[]) => Promise<unknown[]>;
  tell: (task: TaskSnapshot) => Promise<unknown>;
  stop: () => Promise<void>;
}

export const settingsOfStore = ({ endpoint, region, bucket, accessKey, secretKey }: TestS3) => ({
  S3_ENDPOINT: endpoint,
  S3_REGION: region,
  S3_BUCKET: bucket,
  S3_ACCESS_KEY: accessKey,
  S3_SECRET_KEY: secretKey,
});

/** The service as it is deployed, on topics, ports and, unless one is lent, a database of its own. */
export async function startResults(settings: Record<string, string> = {}, lent?: TestDatabase): Promise<TestResults> {
  const database = lent ?? (await testResults());
  const kafka = await testKafka({ topics: Object.values(topics) });
  const [tasks, images] = await Promise.all([startNeighbour(), startNeighbour()]);
  const s3 = await testS3();
  const env = {
    ...settingsOfStore(s3),
    HOST: '127.0.0.1',
    PORT: '0',
    HEALTH_PORT: '0',
    DATABASE_URL: database.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    SERVICE_KEY: testServiceKey('results'),
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    CURSOR_KEYS: 'cursor-key-cursor-key-cursor-key-cursor',
    TASKS_URL: tasks.url,
    IMAGES_URL: images.url,
    LOG_LEVEL: 'silent',
    ...settings,
  };
  const config = hasten(readConfig(env), constants, env);
  const service = await createService(config, { logger, onFatal: (error) => logger.fatal(error) });
  await service.start();
  const producer = createProducer(kafka.client);
  const call: TestResults['call'] = async (method, path, subject = 'subject-a', issuer = 'gateway') => {
    const token = await testToken(issuer, 'results', { subject });
    return fetch(`http://127.0.0.1:${service.port}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  };
  const settled = (id: string) => untilSettled(service.consumers.frames, id);
  return {
    database,
    kafka,
    s3,
    producer,
    service,
    tasks,
    images,
    call,
    ask: async (path, body) => {
      const token = await testToken('tasks', 'results', { subject: 'tasks' });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${service.port}${path}`;
      return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    },
    get: (path, subject) => call('GET', path, subject),
    deliver: async (events) => {
      const outgoing = events.map((data) => ({
        ...('seq' in data ? frameProduced : jobEnded),
        key: data.job_id,
        source: 'inference',
        data,
        id: randomUUID(),
      }));
      await producer.publishBatch(outgoing);
      return Promise.all(outgoing.map(({ id }) => settled(id)));
    },
    tell: async (task) => {
      const id = randomUUID();
      await producer.publish([{ ...taskChanged, key: task.task_id, source: 'tasks', data: task, id }]);
      return untilSettled(service.consumers.tasks, id);
    },
    stop: async () => {
      await producer.stop();
      for (const phase of service.stopPhases) await phase.stop();
      await Promise.all([tasks.stop(), images.stop(), kafka.close(), s3.close()]);
      if (!lent) await database.drop();
    },
  };
}

/** In the form for callers. */
export interface Page {
  items: { frame_id: string; objects: unknown[]; objects_total?: number }[];
  resume_cursor: string;
}

/** Frames of a task with consecutive numbers. */
export const framesOf = (task: string, from: number, count: number) =>
  Array.from({ length: count }, (_, index) => frame(task, from + index));

export const upTo = (count: number) => Array.from({ length: count }, (_, seq) => seq);
