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

/** As if everything had been written by a clock that was an hour ahead and has been stepped back since. */
async function stepBack(): Promise<void> {
  const { db } = world.database;
  const hour = `interval '1 hour'`;
  await db.raw(`update lease_watch set seen_at = seen_at + ${hour}, valid_until = valid_until + ${hour}`);
  await db.raw(`update tasks set check_at = check_at + ${hour}, lease_until = lease_until + ${hour}`);
  await db.raw(`update idempotency_keys set lease_until = lease_until + ${hour}`);
}

test('a task that was to be asked about by a clock that was ahead is asked about when it is right again', async () => {
  tasks = await startTasks(world);
  const { body } = await tasks.create({ subject: randomUUID() });
  expect(body.status).toBe('running');
  await tasks.stop();
  world.backend.end(body.task_id, 'failed');
  await stepBack();
  tasks = await startTasks(world);
  await until(async () => (await storedTasks(world, { task_id: body.task_id }))[0]?.status === 'failed');
});

test('a create that a dead process held by a clock that was ahead is undone when it is right again', async () => {
  const subject = randomUUID();
  await insertDead(world, subject, 'stream', Date.now());
  await stepBack();
  tasks = await startTasks(world);
  await until(async () => (await storedTasks(world, { subject })).length === 0);
});

test('a clock that is stepped back while the service runs is noticed', async () => {
  tasks = await startTasks(world);
  const { body } = await tasks.create({ subject: randomUUID() });
  await stepBack();
  world.backend.end(body.task_id, 'failed');
  await until(async () => (await storedTasks(world, { task_id: body.task_id }))[0]?.status === 'failed');
});
