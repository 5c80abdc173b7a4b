import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { insertDead } from './support/dead-create.ts';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

let world: World;
let tasks: TestTasks;
beforeAll(async () => {
  world = await createWorld({ LEASE_MS: '1200' });
});
afterEach(() => tasks.stop());
afterAll(() => world.close());

/** Simulates rows written by a clock that was an hour ahead and has been stepped back since. */
async function stepBack(): Promise<void> {
  const { db } = world.database;
  const hour = `interval '1 hour'`;
  await db.raw(`update lease_watch set seen_at = seen_at + ${hour}, valid_until = valid_until + ${hour}`);
  const ofTasks = ['check_at', 'lease_until', 'stop_sent_at'].map((column) => `${column} = ${column} + ${hour}`);
  await db.raw(`update tasks set ${ofTasks.join(', ')}`);
  await db.raw(`update deleted_tasks set tell_at = tell_at + ${hour}`);
  await db.raw(`update idempotency_keys set lease_until = lease_until + ${hour}`);
}

test('a task with a due time of a fast clock is queried once the clock is right', async () => {
  tasks = await startTasks(world);
  const { body } = await tasks.create({ subject: randomUUID() });
  expect(body.status).toBe('running');
  await tasks.stop();
  world.backend.end(body.task_id, 'failed');
  await stepBack();
  tasks = await startTasks(world);
  await until(async () => (await storedTasks(world, { task_id: body.task_id }))[0]?.status === 'failed');
});

test('a stop sent under a fast clock is sent again once the clock is right', async () => {
  tasks = await startTasks(world);
  const { task_id: id } = (await tasks.create({ subject: randomUUID() })).body;
  await tasks.stop();
  // The first stop request did not reach the backend.
  const { db } = world.database;
  await db('tasks')
    .where({ task_id: id })
    .update({ status: 'stopping', stop_requested_at: db.fn.now(), stop_sent_at: db.fn.now(), stops_sent: 1 });
  await stepBack();
  tasks = await startTasks(world);
  await until(async () => (await storedTasks(world, { task_id: id }))[0]?.status === 'stopped');
});

test('a stop sent after a round began is not sent again at once', async () => {
  tasks = await startTasks(world);
  const { task_id: id } = (await tasks.create({ subject: randomUUID() })).body;
  await tasks.stop();
  const sentAt = Date.now() + 2_000;
  const sent = { status: 'stopping', stop_sent_at: new Date(sentAt), stops_sent: 1 };
  await world.database.db('tasks').where({ task_id: id }).update(sent);
  const stops: number[] = [];
  world.backend.onStop = () => {
    stops.push(Date.now());
    return 'answer';
  };
  tasks = await startTasks(world);
  await until(async () => (await storedTasks(world, { task_id: id }))[0]?.status === 'stopped');
  world.backend.onStop = () => 'answer';
  expect(stops).toHaveLength(1);
  expect(stops[0]).toBeGreaterThan(sentAt);
});

test('a deletion with a due time of a fast clock is reported once the clock is right', async () => {
  const { db } = world.database;
  const id = randomUUID();
  const ends = { expires_at: db.raw(`now() + interval '90 days'`), deleted_at: db.fn.now() };
  await db('deleted_tasks').insert({ task_id: id, subject: 'owner', request_key: 'key', kind: 'stream', ...ends });
  await stepBack();
  tasks = await startTasks(world);
  const isSoon = db.raw(`tell_at < now() + interval '50 minutes'`);
  await until(async () => (await db('deleted_tasks').where({ task_id: id }).andWhere(isSoon)).length === 1);
});

test('a dead create request with a lease of a fast clock is rolled back once the clock is right', async () => {
  const subject = randomUUID();
  await insertDead(world, subject, 'stream', Date.now());
  await stepBack();
  tasks = await startTasks(world);
  await until(async () => (await storedTasks(world, { subject })).length === 0);
});

test('the service detects a clock that is stepped back while it runs', async () => {
  tasks = await startTasks(world);
  const { body } = await tasks.create({ subject: randomUUID() });
  await stepBack();
  world.backend.end(body.task_id, 'failed');
  await until(async () => (await storedTasks(world, { task_id: body.task_id }))[0]?.status === 'failed');
});
