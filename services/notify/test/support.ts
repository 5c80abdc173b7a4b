import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { alarmChanged } from '@vision/contracts/alarm-events';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import { taskChanged, taskDeleted } from '@vision/contracts/task-events';
import type { TaskDeletion, TaskSnapshot } from '@vision/contracts/task-events';
import { topics } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { createProducer } from '@vision/kafka/producer';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { hasten } from '@vision/shared/testing/hasten';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testPublicKeys, testToken } from '@vision/shared/testing/service-keys';
import { constants, readConfig } from '../src/config.ts';
import { migrations } from '../src/db/migrations/list.ts';
import { createService } from '../src/service.ts';
import type { NotifyService } from '../src/service.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

export const logger = createLogger('notify-test', process.env['TEST_LOG_LEVEL'] ?? 'silent');

export interface EventBody {
  event_id: string;
  type: string;
  timestamp: string;
  sequence: number;
  data: {
    task: { task_id: string; status: string };
    client_ref?: string;
    reason?: string;
    alarm?: AlarmBody;
    endpoint_id?: string;
  };
}

export type AlarmBody = Omit<AlarmSnapshot, 'subject' | 'is_live' | 'judged_at'> & {
  created_at: string;
  updated_at: string;
  review?: { verdict: string; note?: string; reviewed_at?: string };
};

export interface Page {
  items: EventBody[];
  next_cursor: string;
  resume_cursor: string;
}

export interface TestNotify {
  database: TestDatabase;
  kafka: Awaited<ReturnType<typeof testKafka>>;
  /** The settings of the process. */
  env: Record<string, string>;
  service: NotifyService;
  /** Publishes versions of tasks and waits until the service has processed all of them. */
  tell: (...tasks: TaskSnapshot[]) => Promise<void>;
  /** Publishes the deletion of tasks and waits in the same way. */
  tellDeleted: (...tasks: Pick<TaskDeletion, 'task_id' | 'subject'>[]) => Promise<void>;
  /** Publishes versions of alarms one after the other, as tasks share no order. */
  tellAlarms: (...alarms: AlarmSnapshot[]) => Promise<void>;
  call: (method: string, path: string, subject?: string, body?: unknown) => Promise<Response>;
  page: (query?: string, subject?: string) => Promise<Page>;
  open: (query?: string, headers?: Record<string, string>, subject?: string) => Promise<Stream>;
  /** Publishes versions of alarms, for other processes on the same stores. */
  publishAlarms: (...alarms: AlarmSnapshot[]) => Promise<void>;
  /** Headers of a call of a subject. */
  headersOf: (subject: string) => Promise<Record<string, string>>;
  /** Publishes versions of tasks, for other processes on the same stores. */
  publish: (...tasks: TaskSnapshot[]) => Promise<void>;
  /** Stops the service; its stores stay. */
  halt: () => Promise<void>;
  stop: () => Promise<void>;
}

export const testWebhookKey = `1:${Buffer.alloc(32, 7).toString('base64')}`;

/** A task in a state, at a version. */
export const task = (facts: Partial<TaskSnapshot> = {}): TaskSnapshot => {
  const id = facts.task_id ?? randomUUID();
  const now = new Date().toISOString();
  return {
    task_id: id,
    version: 1,
    subject: 'subject-a',
    kind: 'stream',
    request_id: randomUUID(),
    scene_code: 'person_vehicle',
    status: 'running',
    lower_bound: 0.3,
    default_min_score: 0.8,
    attempt: 1,
    reservation_id: `${id}/1`,
    keeps_key: true,
    created_at: now,
    updated_at: now,
    result_expires_at: now,
    ...facts,
  };
};

/** An alarm at a version, of a live stream. */
export const alarm = (facts: Partial<AlarmSnapshot> = {}): AlarmSnapshot => ({
  alarm_id: randomUUID(),
  version: 1,
  subject: 'subject-a',
  rule_id: 'yard',
  rule_version: 1,
  task_id: randomUUID(),
  scene_code: 'person_vehicle',
  is_live: true,
  state: 'open',
  kind: 'object_present',
  opened_ms: Date.now(),
  suppressed: 0,
  evidence: { objects: [], count: 1, held_ms: 2000 },
  labels: ['person'],
  count_max: 1,
  track_ids: ['a1-7'],
  judged_at: new Date().toISOString(),
  ...facts,
});

/** The next version of an alarm: closed by default. */
export const later = (before: AlarmSnapshot, facts: Partial<AlarmSnapshot> = {}): AlarmSnapshot => ({
  ...before,
  version: before.version + 1,
  state: 'closed',
  closed_ms: before.opened_ms + 5000,
  closed_by: 'cleared',
  judged_at: new Date(Date.parse(before.judged_at) + 5000).toISOString(),
  ...facts,
});

/** Settings of the service on free ports, which may reach receivers on loopback by HTTP. */
export const notifySettings = (databaseUrl: string, kafka: TestKafka): Record<string, string> => ({
  HOST: '127.0.0.1',
  PORT: '0',
  HEALTH_PORT: '0',
  DATABASE_URL: databaseUrl,
  KAFKA_BROKERS: kafka.brokers.join(','),
  TOPIC_PREFIX: kafka.topicPrefix,
  SERVICE_PUBLIC_KEYS: testPublicKeys,
  CURSOR_KEYS: 'a-secret-of-thirty-two-characters',
  WEBHOOK_KEYS: testWebhookKey,
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.1/32',
});

/**
 * The service as it is deployed, on a database, topics and ports of its own, or on those of another replica; `settings`
 * override the usual ones.
 */
export async function startNotify(settings: Record<string, string> = {}, beside?: TestNotify): Promise<TestNotify> {
  const database = beside?.database ?? (await createTestDatabase(migrations, { poolMax: 10 }));
  const kafka = beside?.kafka ?? (await testKafka({ topics: [topics.tasks, topics.alarms, topics.rules] }));
  const env = { ...notifySettings(database.url, kafka), LOG_LEVEL: 'silent', ...settings };
  const config = hasten(readConfig(env), constants, env);
  const service = await createService(config, { logger, onFatal: (error) => logger.fatal(error) });
  await service.start();
  await service.consumer.joined;
  const producer = createProducer(kafka.client);
  const publish = async (events: { topic: string; type: string; data: { task_id: string } }[]) => {
    const outgoing = events.map((event) => ({ ...event, key: event.data.task_id, source: 'test', id: randomUUID() }));
    await producer.publish(outgoing);
    return outgoing.map(({ id }) => id);
  };
  const settled = async (ids: Promise<string[]>) => {
    await Promise.all((await ids).map((id) => untilSettled(service.consumer, id)));
  };
  const changes = (tasks: TaskSnapshot[]) => tasks.map((data) => ({ ...taskChanged, data }));
  let isHalted = false;
  const halt = async () => {
    if (isHalted) return;
    isHalted = true;
    for (const phase of service.stopPhases) await phase.stop();
  };
  const url = (path: string) => `http://127.0.0.1:${service.port}${path}`;
  const headersOf = async (subject: string) => ({
    authorization: `Bearer ${await testToken('gateway', 'notify', { subject })}`,
  });
  const call: TestNotify['call'] = async (method, path, subject = 'subject-a', body) =>
    fetch(url(path), {
      method,
      headers: { ...(await headersOf(subject)), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    database,
    kafka,
    env,
    service,
    call,
    tell: (...tasks) => settled(publish(changes(tasks))),
    publish: async (...tasks) => {
      await publish(changes(tasks));
    },
    publishAlarms: async (...alarms) => {
      await publish(alarms.map((data) => ({ ...alarmChanged, data })));
    },
    headersOf,
    halt,
    tellDeleted: (...tasks) => {
      const deleted_at = new Date().toISOString();
      const data = tasks.map(({ task_id, subject }) => ({ ...taskDeleted, data: { task_id, subject, deleted_at } }));
      return settled(publish(data));
    },
    tellAlarms: async (...alarms) => {
      for (const data of alarms) await settled(publish([{ ...alarmChanged, data }]));
    },
    page: async (query = '', subject) => {
      const answer = await call('GET', `/v1/vision/events${query}`, subject);
      if (answer.status !== 200) throw new Error(await answer.text());
      return (await answer.json()) as Page;
    },
    open: async (query = '', more = {}, subject = 'subject-a') => {
      const headers = { ...more, ...(await headersOf(subject)) };
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        request(url(`/v1/vision/events/stream${query}`), { agent: false, headers }, resolve)
          .on('error', reject)
          .end();
      });
      return new Stream(answer);
    },
    stop: async () => {
      await producer.stop();
      await halt();
      if (beside) return;
      await kafka.close();
      await database.drop();
    },
  };
}

/** A client of the stream. */
export class Stream {
  readonly events: { type: string; id: string; data: EventBody }[] = [];
  readonly ids: string[] = [];
  readonly answer: IncomingMessage;
  isEnded = false;
  #text = '';

  constructor(answer: IncomingMessage) {
    this.answer = answer;
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => this.#read(text));
    answer.on('end', () => (this.isEnded = true));
    answer.on('error', () => (this.isEnded = true));
  }

  close(): void {
    this.answer.destroy();
  }

  #read(text: string): void {
    this.#text += text;
    const blocks = this.#text.split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line): [string, string] => [line.split(': ', 1)[0] ?? '', line]));
      const valueOf = (name: string) => fields.get(name)?.slice(name.length + 2) ?? '';
      if (fields.has('id')) this.ids.push(valueOf('id'));
      if (!fields.has('data')) continue;
      this.events.push({
        type: valueOf('event'),
        id: valueOf('id'),
        data: JSON.parse(valueOf('data')) as EventBody,
      });
    }
  }
}
