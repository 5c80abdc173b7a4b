import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { frameProduced } from '@vision/contracts/frame-events';
import type { FrameData } from '@vision/contracts/frame-events';
import { ruleChanged } from '@vision/contracts/rule-events';
import { taskChanged } from '@vision/contracts/task-events';
import { topics } from '@vision/contracts/topics';
import { createProducer } from '@vision/kafka/producer';
import type { EventProducer } from '@vision/kafka/producer';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { freePort } from '@vision/shared/testing/ports';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testPublicKeys, testServiceKey } from '@vision/shared/testing/service-keys';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import { alarmsOf, newSubject, rule, shortly, visits } from './alarm-world.ts';
import { newTaskId, settingsOfStore, snapshot, testResults } from './support.ts';

let database: TestDatabase;
let kafka: TestKafka;
let s3: TestS3;
let producer: EventProducer;
const running: RunningProcess[] = [];

beforeEach(async () => {
  database = await testResults();
  kafka = await testKafka({ topics: Object.values(topics) });
  s3 = await testS3();
  producer = createProducer(kafka.client);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.stop()));
  await producer.stop();
  await Promise.all([kafka.close(), s3.close()]);
  await database.drop();
});

async function start(settings: Record<string, string> = {}): Promise<RunningProcess> {
  const healthPort = await freePort();
  const process = startProcess('results', {
    ...settingsOfStore(s3),
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    HEALTH_PORT: String(healthPort),
    DATABASE_URL: database.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    SERVICE_KEY: testServiceKey('results'),
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    CURSOR_KEYS: 'cursor-key-cursor-key-cursor-key-cursor',
    TASKS_URL: 'http://127.0.0.1:1',
    IMAGES_URL: 'http://127.0.0.1:1',
    ...settings,
  });
  running.push(process);
  await untilReady(process, healthPort);
  return process;
}

/** Publishes a rule, then tasks of its subject once the rule is stored. */
async function tasksWithRules(count: number): Promise<string[]> {
  const subject = newSubject();
  await producer.publish([{ ...ruleChanged, key: subject, source: 'notify', data: rule(subject) }]);
  await until(async () => (await database.db('alarm_rules').where({ subject })).length === 1);
  const tasks = Array.from({ length: count }, newTaskId);
  await producer.publishBatch(
    tasks.map((task) => ({ ...taskChanged, key: task, source: 'tasks', data: snapshot(task, subject) })),
  );
  await until(async () => (await database.db('task_views').where({ subject })).length === count);
  return tasks;
}

const publish = (frames: FrameData[]) =>
  producer.publishBatch(frames.map((data) => ({ ...frameProduced, key: data.job_id, source: 'inference', data })));

/** How many tasks have so many frames, all of them folded. */
async function folded(frames: number): Promise<number> {
  const { rows } = await database.db.raw<{ rows: [{ folded: number }] }>(
    `select count(*)::int as folded from ingests join folds using (task_id)
      where ingests.stored = ? and folds.position = ingests.position`,
    [frames],
  );
  return rows[0].folded;
}

const expected = [
  ['yard', 'open', 1000],
  ['yard', 'cleared', 1000, 3000],
];

test.each(['results.alarms_appended', 'results.alarms_stored'])(
  'a process that dies at %s leaves each alarm to the next one, once',
  async (crashAt) => {
    const dying = await start({ CRASH_AT: crashAt });
    const [task = ''] = await tasksWithRules(1);
    await publish(visits(task, [0, 2], [1]));
    expect(await dying.ended).toBe('SIGKILL');
    await start();
    await publish(visits(task, [2, 5], []));
    await until(async () => (await alarmsOf(database.db, task)).length === 2);
    await until(async () => (await folded(25)) === 1);
    expect(shortly(await alarmsOf(database.db, task))).toEqual(expected);
  },
);

test('two replicas publish each alarm once, whichever stores and folds the frames', async () => {
  await Promise.all([start(), start()]);
  const tasks = await tasksWithRules(8);
  for (let second = 0; second < 5; second += 1)
    await publish(tasks.flatMap((task) => visits(task, [second, second + 1], [1])));
  for (const task of tasks) await until(async () => (await alarmsOf(database.db, task)).length >= 2);
  await until(async () => (await folded(25)) === tasks.length);
  for (const task of tasks) expect(shortly(await alarmsOf(database.db, task))).toEqual(expected);
});
