import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

let world: World;
let tasks: TestTasks | undefined;
beforeAll(async () => {
  world = await createWorld();
});
afterEach(async () => {
  world.backend.onSubmit = () => 'accept';
  await tasks?.stop();
  tasks = undefined;
});
afterAll(async () => {
  await world.close();
});

/** Stops the service of a test and starts it again on another day. */
async function startAt(clockOffset: string, env: Record<string, string> = {}): Promise<TestTasks> {
  await tasks?.stop();
  tasks = await startTasks(world, { CLOCK_OFFSET: clockOffset, ...env });
  return tasks;
}

async function createResolving(): Promise<string> {
  world.backend.onSubmit = () => 'drop';
  const { body } = await (await startAt('0 seconds')).create({ subject: randomUUID() });
  expect(body.status).toBe('resolving');
  return body.task_id;
}

test('a job of a task verified as not created is queried during a day of the database', async () => {
  const id = await createResolving();
  const verified = await tasks?.call('POST', `/internal/v1/tasks/${id}/verification`, {
    subject: 'operator',
    body: { outcome: 'not_created' },
  });
  expect(verified?.body.status).toBe('refunded');
  const checkAt = async () => (await storedTasks(world, { task_id: id }))[0]?.check_at;
  expect(await checkAt()).not.toBeNull();
  await startAt('25 hours');
  await until(async () => {
    await world.database
      .db('tasks')
      .where({ task_id: id })
      .whereNotNull('check_at')
      .update({ check_at: new Date(0) });
    return (await checkAt()) === null;
  });
});

test('an operator sees the age of a task by the clock that dated it', async () => {
  const id = await createResolving();
  const later = await startAt('2 hours');
  const { body } = await later.call('GET', '/internal/v1/tasks?status=resolving', { subject: 'operator' });
  const item = (body['items'] as { task_id: string; age_s: number }[]).find(({ task_id }) => task_id === id);
  expect(item?.age_s).toBeGreaterThanOrEqual(7_200);
});

test('removes the video of a refunded task after a crash, on any day', async () => {
  const { body } = await (await startAt('2 days')).create({ subject: randomUUID() });
  const { task_id } = body;
  await world.database
    .db('tasks')
    .where({ task_id })
    .update({ status: 'refunded', object_key: `videos/${task_id}` });
  await until(async () => (await storedTasks(world, { task_id }))[0]?.object_key === null);
});

test('retains tasks for the configured number of days', async () => {
  const { body } = await (await startAt('0 seconds', { RETENTION_DAYS: '30' })).create({ subject: randomUUID() });
  const { created_at, result_expires_at } = body as unknown as Record<string, string>;
  expect(Date.parse(result_expires_at ?? '') - Date.parse(created_at ?? '')).toBe(30 * 86_400_000);
});

test('a task that expires before it ends keeps its unit and is followed to its end; its key is free', async () => {
  world.backend.onSubmit = () => 'drop';
  const request = { subject: randomUUID(), key: randomUUID() };
  const { body } = await (await startAt('0 seconds')).create(request);
  expect(body.status).toBe('resolving');
  world.backend.onSubmit = () => 'accept';
  const next = await (await startAt('91 days')).create(request);
  expect([next.status, next.body.status]).toEqual([201, 'running']);
  const id = body.task_id;
  expect((await storedTasks(world, { task_id: id }))[0]?.status).toBe('resolving');
  await tasks?.call('POST', `/internal/v1/tasks/${id}/verification`, {
    subject: 'operator',
    body: { outcome: 'not_created' },
  });
  const open = async () => (await world.quota.reservations(request.subject)).filter(({ state }) => state === 'open');
  await until(async () => (await open()).every((reservation) => reservation.id !== `${id}/1`));
});
