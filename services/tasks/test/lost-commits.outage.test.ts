import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

let world: World;
const running: (TestTasks | { stop: () => Promise<void> })[] = [];
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await world.close();
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

/** A replica whose database answers through a proxy; `onLost` runs when the first reply to a commit is lost. */
async function startBehindProxy(onLost: (proxy: FaultProxy) => void = () => undefined) {
  const { hostname, port } = new URL(world.database.url);
  let lost = 0;
  const proxy = await startFaultProxy({ host: hostname, port: Number(port || 5432) }, () => {
    if (lost++ > 0) return 1;
    queueMicrotask(() => onLost(proxy));
    return 0;
  });
  const url = new URL(world.database.url);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const tasks = await startTasks(world, { DATABASE_URL: url.href });
  running.push(tasks, { stop: proxy.close });
  return { tasks, proxy };
}

/** A statement that occurs only in the transaction that commits a task as `submitting`. */
const SUBMITTING = 'update "idempotency_keys" set "done"';

const movesOf = async (taskId: string) =>
  (
    await world.database
      .db('task_moves')
      .where({ task_id: taskId })
      .orderBy('version')
      .select<{ move: string }[]>('move')
  ).map(({ move }) => move);
const submitsOf = (taskId: string) => world.backend.submits.filter(({ jobId }) => jobId === taskId);

test('a create request whose commit succeeded with a lost reply continues and runs', async () => {
  const { tasks, proxy } = await startBehindProxy();
  const subject = randomUUID();
  proxy.set({ kind: 'lose_commit_reply', probability: 1, mentioning: SUBMITTING });
  const created = await tasks.create({ subject });
  expect(proxy.hits()).toBe(1);
  expect([created.status, created.body.status]).toEqual([201, 'running']);
  expect(await movesOf(created.body.task_id)).toEqual(['admit', 'submit', 'accept']);
  expect(submitsOf(created.body.task_id)).toHaveLength(1);
  expect(await world.quota.used(subject)).toBe(1);
});

test('it also continues after an outage in which another replica set it to `resolving`', async () => {
  const other = await startTasks(world);
  running.push(other);
  const { tasks, proxy } = await startBehindProxy((itself) => itself.set({ kind: 'refuse' }));
  const subject = randomUUID();
  proxy.set({ kind: 'lose_commit_reply', probability: 1, mentioning: SUBMITTING });
  const creating = tasks.create({ subject });
  const stored = await until(async () => (await storedTasks(world, { subject, status: 'resolving' }))[0]);
  expect(submitsOf(stored.task_id)).toEqual([]);
  proxy.set({ kind: 'none' });
  const created = await creating;
  expect(created.body.task_id).toBe(stored.task_id);
  expect([201, 202]).toContain(created.status);
  await until(async () => (await storedTasks(world, { subject, status: 'running' }))[0]);
  expect(submitsOf(stored.task_id)).toHaveLength(1);
  expect(await world.quota.used(subject)).toBe(1);
});

test('a create request whose commit failed is refused and leaves no data, and its repeat runs', async () => {
  const { tasks, proxy } = await startBehindProxy();
  const scene = { subject: randomUUID(), key: randomUUID(), limits: { video_tasks_per_day: 1, active_tasks: 1 } };
  proxy.set({ kind: 'lose_commit', probability: 1, mentioning: SUBMITTING });
  const refused = await tasks.create(scene);
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-SYS-UNAVAILABLE']);
  expect(await world.quota.used(scene.subject)).toBe(0);
  const repeated = await tasks.create(scene);
  expect([repeated.status, repeated.body.status]).toEqual([201, 'running']);
  expect(await world.quota.used(scene.subject)).toBe(1);
});

test('a refusal of the backend is stored although its first commit is lost', async () => {
  const { tasks, proxy } = await startBehindProxy();
  const subject = randomUUID();
  world.backend.onSubmit = () => 'refuse';
  proxy.set({ kind: 'lose_commit', probability: 1, mentioning: 'refunded' });
  const created = await tasks.create({ subject });
  world.backend.onSubmit = () => 'accept';
  expect(proxy.hits()).toBe(1);
  expect([created.status, created.body.status]).toEqual([201, 'refunded']);
  expect(await world.quota.used(subject)).toBe(0);
});

test('a create request without a slot at the backend is rolled back although the first commit is lost', async () => {
  const { tasks, proxy } = await startBehindProxy();
  const scene = { subject: randomUUID(), key: randomUUID(), limits: { video_tasks_per_day: 1, active_tasks: 1 } };
  world.backend.onSubmit = () => 'no_capacity';
  proxy.set({ kind: 'lose_commit', probability: 1, mentioning: 'take_back' });
  const refused = await tasks.create(scene);
  world.backend.onSubmit = () => 'accept';
  expect(proxy.hits()).toBe(1);
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-TASK-UPSTREAM-DOWN']);
  expect((await tasks.create(scene)).status).toBe(201);
  expect(await world.quota.used(scene.subject)).toBe(1);
});
