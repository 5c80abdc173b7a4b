import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Difference } from '@vision/contracts/audit';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { v7 as uuidv7 } from 'uuid';
import { createWorld, startTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';
import { upload } from './support/videos.ts';

const metrics = testMetrics();
let world: World;
let tasks: TestTasks;
beforeAll(async () => {
  world = await createWorld({ AUDIT_INTERVAL_MS: '100', AUDIT_AGE_MS: '3000', BODY_TOTAL_MS: '8000' });
  tasks = await startTasks(world);
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
});

const differences = async (): Promise<Difference[]> => {
  const { body } = await tasks.call('GET', '/internal/v1/differences');
  return (body as unknown as { items: Difference[] }).items;
};
const named = async (id: string) => (await differences()).filter((difference) => difference.id === id);
const gauge = (kind: string) => metrics.sumOf('vision.audit.differences', { kind });
const told = (id: string) =>
  tasks
    .log()
    .split('\n')
    .filter((line) => line.includes('"an audit found a difference"') && line.includes(id));
/** Makes all open reservations due for comparison. */
const askNow = () => world.quota.database.db.raw(`update reservations set ask_at = now() where state = 'open'`);
const create = (subject: string) => upload({ port: tasks.port, key: randomUUID(), subject });

test('a healthy system shows no difference', async () => {
  const subject = randomUUID();
  const stream = await tasks.create({ subject });
  expect(stream.status).toBe(201);
  expect((await create(subject)).status).toBe(201);
  await askNow();
  await until(async () => {
    const due = world.quota.database.db('reservations').where('ask_at', '<=', new Date());
    return (await due.pluck<string[]>('id')).length === 0;
  });
  // Rows of the sweep are among the cursors of the audits.
  const marks = () => world.database.db('audit_marks').whereNot('kind', 'like', 'videos%');
  await until(async () => (await marks().select('kind')).length === 2);
  expect(await world.database.db('audit_differences').select('id')).toEqual([]);
});

test('reports and lists units held without a task until they are refunded', async () => {
  const id = `${uuidv7()}/1`;
  const subject = randomUUID();
  const { db } = world.quota.database;
  await db.raw(`select reserve_units(?, ?, ?, 'video', 1, 100)`, [id, subject, randomUUID()]);
  await askNow();
  await until(async () => (await named(id)).length === 1);
  expect(await named(id)).toMatchObject([
    { kind: 'open_reservation', details: { subject, units: 1, task_id: id.split('/')[0] } },
  ]);
  await until(async () => (await gauge('open_reservation')) === 1);
  expect(told(id)).toHaveLength(1);
  await db.raw(`select close_reservation(?, ?, 'refunded', 0)`, [id, subject]);
  await until(async () => (await named(id)).length === 0);
  await until(async () => (await gauge('open_reservation')) === 0);
});

test('reports and lists a task whose video is missing', async () => {
  const { body } = await create(randomUUID());
  await world.s3.client.removeObject(world.s3.bucket, await world.videoOf(body.task_id));
  await until(async () => (await named(body.task_id)).length === 1);
  expect(await named(body.task_id)).toMatchObject([{ kind: 'video_missing' }]);
  await until(async () => (await gauge('video_missing')) === 1);
  expect(told(body.task_id)).toHaveLength(1);
});

test('reports and lists a stored video without a task until it is removed', async () => {
  const key = await world.videoOf(uuidv7());
  await world.s3.client.putObject(world.s3.bucket, key, Buffer.from('x'));
  await until(async () => (await named(key)).length === 1);
  expect(await named(key)).toMatchObject([{ kind: 'video_without_task' }]);
  await until(async () => (await gauge('video_without_task')) === 1);
  expect(told(key)).toHaveLength(1);
  await world.s3.client.removeObject(world.s3.bucket, key);
  await until(async () => (await named(key)).length === 0);
});

test('only results can query which ids are tasks, of any subject', async () => {
  const [id, nobody] = [(await tasks.create({ subject: randomUUID() })).body.task_id, uuidv7()];
  const ask = (issuer: 'results' | 'gateway') =>
    tasks.call('POST', '/internal/v1/known-tasks', { issuer, body: { task_ids: [id, nobody] } });
  expect(await ask('results')).toMatchObject({ status: 200, body: { task_ids: [id] } });
  expect((await ask('gateway')).status).toBe(403);
});
