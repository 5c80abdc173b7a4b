import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { topics } from '@vision/contracts/topics';
import { applyTopics } from '@vision/kafka/apply-topics';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { freePort } from '@vision/shared/testing/ports';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { migrateProcess, startMain } from '@vision/shared/testing/service-process';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import { testPublicKeys } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { migrations } from '../src/db/migrations/list.ts';

let kafka: TestKafka;
let database: TestDatabase;
let empty: TestDatabase;

beforeAll(async () => {
  kafka = await testKafka({ topics: [topics.tasks, topics.images] });
  database = await createTestDatabase(migrations);
  empty = await createTestDatabase([]);
});

afterAll(async () => {
  await kafka.close();
  await database.drop();
  await empty.drop();
});

interface Quota extends RunningProcess {
  /** Status and text of a health endpoint. */
  health: (what: string) => Promise<string>;
  port: string;
  /** The first line of the log that is an error or worse. */
  firstError: () => Promise<string>;
}

/** A process of its own with valid settings, apart from the changed ones. */
async function start(changed: Record<string, string>): Promise<Quota> {
  const ports = { PORT: String(await freePort()), HEALTH_PORT: String(await freePort()) };
  const running = startMain('quota', { ...settings(), ...ports, ...changed });
  const lines = () =>
    running
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
  const errors = () =>
    lines()
      .map((line) => JSON.parse(line) as { level: string; msg: string })
      .filter(({ level }) => level === 'error' || level === 'fatal');
  return {
    ...running,
    port: ports.PORT,
    health: async (what) => {
      const answer = await fetch(`http://127.0.0.1:${ports.HEALTH_PORT}/health/${what}`);
      return `${answer.status} ${await answer.text()}`;
    },
    firstError: () => until(() => errors()[0]?.msg),
  };
}

const settings = () => ({
  HOST: '127.0.0.1',
  DATABASE_URL: database.url,
  KAFKA_BROKERS: kafka.brokers.join(','),
  TOPIC_PREFIX: kafka.topicPrefix,
  SERVICE_PUBLIC_KEYS: testPublicKeys,
  LOG_LEVEL: 'info',
});

test('a wrong value and a missing secret end the process with one line that names both', async () => {
  const quota = await start({ DATABASE_POOL: 'many', SERVICE_PUBLIC_KEYS: '' });
  expect(await quota.ended).toBe('1');
  const error = await quota.firstError();
  expect(error).toMatch(/DATABASE_POOL: .*, not "many"/);
  expect(error).toContain('SERVICE_PUBLIC_KEYS: is missing');
});

test('a setting of an earlier release is named in a warning, and the process does without it', async () => {
  const quota = await start({ AUDIT_AGE_MS: 'soon' });
  const warnings = () =>
    quota
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { level: string; msg: string; setting?: string })
      .filter(({ msg }) => msg === 'setting is no longer read');
  await until(async () => (await quota.health('ready')) === '200 ok\n');
  expect(warnings().map(({ level, setting }) => [level, setting])).toEqual([['warn', 'AUDIT_AGE_MS']]);
  await quota.stop();
});

test('a database that is not migrated keeps the process from being ready until it is', async () => {
  const quota = await start({ DATABASE_URL: empty.url });
  const sentence = await quota.firstError();
  expect(sentence).toMatch(/^The database vision_test_\w+ of DATABASE_URL \(.*\) is not migrated: [\w-]+ is missing/);
  // The brokers may not have answered yet.
  await until(async () => (await quota.health('ready')) === `503 no\n${sentence}\n`);
  expect(await quota.health('live')).toBe('200 ok\n');
  // With the settings of the database and nothing else.
  await migrateProcess('quota', { DATABASE_URL: empty.url });
  await until(async () => (await quota.health('ready')) === '200 ok\n');
  await quota.stop();
});

test('a password that is wrong is named without being shown, by the service and by its migration', async () => {
  const wrong = { DATABASE_PASSWORD: 'wrong-secret' };
  const quota = await start(wrong);
  expect(await quota.firstError()).toMatch(/^PostgreSQL refuses the password of DATABASE_URL \(.*DATABASE_PASSWORD$/);
  expect(await quota.health('ready')).toContain('503 no\nPostgreSQL refuses the password');
  await quota.stop();
  expect(quota.output()).not.toContain('wrong-secret');
  const migration = startMain('quota', { DATABASE_URL: database.url, ...wrong }, ['migrate']);
  expect(await migration.ended).toBe('1');
  expect(migration.output()).toContain('PostgreSQL refuses the password of DATABASE_URL');
  expect(migration.output()).not.toContain('wrong-secret');
});

test('brokers that do not answer are named, and the process is ready: it can do without them for a while', async () => {
  const quota = await start({ KAFKA_BROKERS: '127.0.0.1:1' });
  expect(await quota.firstError()).toBe('No broker of KAFKA_BROKERS=127.0.0.1:1 answers: ECONNREFUSED');
  await until(async () => (await quota.health('ready')) === '200 ok\n');
  await quota.stop();
});

test('a missing topic, and one with too few partitions, keep the process from being ready until they are right', async () => {
  const TOPIC_PREFIX = `${kafka.topicPrefix}later.`;
  const TOPICS = '{"default":{"partitions":3}}';
  const quota = await start({ TOPIC_PREFIX, TOPICS });
  expect(await quota.firstError()).toBe(
    `The topic ${TOPIC_PREFIX}vision.tasks.v1 (TOPIC_PREFIX included) does not exist: run "visionctl topics apply"`,
  );
  const client = { ...kafka.client, nameOf: (name: string) => `${TOPIC_PREFIX}${name}` };
  const all = [topics.tasks, topics.images].flatMap((name) => [name, `${name}.dlq`]);
  const make = (partitions: number) =>
    applyTopics(
      client,
      all.map((name) => ({ name, partitions, addPartitions: true, retentionMs: 3_600_000 })),
    );
  await make(2);
  await until(async () =>
    (await quota.health('ready')).includes(`${TOPIC_PREFIX}vision.tasks.v1 has 2 partitions, and TOPICS asks for 3`),
  );
  await make(3);
  await until(async () => (await quota.health('ready')) === '200 ok\n');
  await quota.stop();
  const admin = kafka.client.kafka.admin();
  await admin.connect();
  await admin.deleteTopics({ topics: all.map((name) => client.nameOf(name)) }).finally(() => admin.disconnect());
});

test('on SIGTERM readiness says no at once, and requests are served until the drain is over', async () => {
  // Long enough for a busy machine to answer everything below.
  const quota = await start({ DRAIN_DELAY_MS: '12000' });
  await until(async () => (await quota.health('ready')) === '200 ok\n');
  const before = await fetch(`http://127.0.0.1:${quota.port}/nowhere`);
  expect(before.headers.get('connection')).toBe('keep-alive');
  quota.child.kill('SIGTERM');
  await until(async () => (await quota.health('ready')) === '503 no\nthe process is stopping\n');
  // Callers that keep connections are sent elsewhere while there is still an answer.
  const served = await fetch(`http://127.0.0.1:${quota.port}/nowhere`);
  expect([served.status, served.headers.get('connection')]).toEqual([401, 'close']);
  expect(await quota.health('live')).toBe('200 ok\n');
  expect(await quota.ended).toBe('0');
});

test('the longest time of a stop is reported for the settings of the environment', async () => {
  const asked = startMain('quota', { DRAIN_DELAY_MS: '5000', SHUTDOWN_GRACE_MS: '10000' }, ['stop-times']);
  expect(await asked.ended).toBe('0');
  expect(JSON.parse(asked.output())).toEqual({
    service: 'quota',
    phasesMs: { drain: 5_500, http: 10_000, background: 15_000, health: 2_000, database: 5_000 },
    totalMs: 39_500,
  });
});
