import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

let world: World;
const running: { stop: () => Promise<void> }[] = [];
beforeAll(async () => {
  world = await createWorld({ RESULTS_GRACE_MS: '600000', RECONCILE_MS: '1000', STOP_WAIT_MS: '60000' });
});
afterAll(async () => {
  await world.close();
});
afterEach(async () => {
  world.backend.onStop = () => 'answer';
  for (const one of running.splice(0)) await one.stop();
});

/** Accepts connections and requests, and never answers. */
async function startFrozenService(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const limits = { video_tasks_per_day: 1000, active_tasks: 1000 };

async function createMany(tasks: TestTasks, count: number, subject: string): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const some = await Promise.all(Array.from({ length: 20 }, () => tasks.create({ subject, limits })));
    ids.push(...some.map(({ body }) => body.task_id));
  }
  return ids;
}

async function startWith(env: Record<string, string>): Promise<TestTasks> {
  const tasks = await startTasks(world, env);
  // Stopped after its dependencies: an unanswered call delays the stop for as long as a call may take.
  running.push(tasks);
  return tasks;
}

/** Milliseconds until the stop of a task is confirmed. */
async function timeOfStop(tasks: TestTasks, subject: string, taskId: string): Promise<number> {
  const begun = performance.now();
  const stopped = await tasks.call('POST', `/v1/vision/tasks/${taskId}/stop`, { subject });
  expect(stopped.body.status).toBe('stopped');
  return performance.now() - begun;
}

test('with 40 ended files and a frozen results, the stop of another task is confirmed without delay', async () => {
  const tasks = await startWith({ RESULTS_URL: await startFrozenService() });
  const subject = randomUUID();
  const files = await createMany(tasks, 40, subject);
  const other = (await tasks.create({ subject, limits })).body.task_id;
  for (const id of files) {
    Object.assign(world.backend.jobs.get(id) ?? {}, { frames_published: 5 });
    world.backend.end(id, 'succeeded');
  }
  const ended = async () => (await storedTasks(world, { subject })).filter((task) => task.job_ended_at !== null);
  await until(async () => (await ended()).length === files.length);
  // Less than one timeout of results.
  expect(await timeOfStop(tasks, subject, other)).toBeLessThan(Number(world.env['SERVICE_TIMEOUT_MS']) / 2);
  expect(await storedTasks(world, { subject, status: 'running' })).toHaveLength(files.length);
});

test('unanswered stops delay no other stop', async () => {
  const tasks = await startWith({});
  const subject = randomUUID();
  const stuck = await createMany(tasks, 20, subject);
  const other = (await tasks.create({ subject, limits })).body.task_id;
  world.backend.onStop = (id) => (stuck.includes(id) ? 'hang' : 'answer');
  // The service stops them by itself, as it does a day before their results expire.
  const soon = new Date(Date.now() + 23 * 3_600_000);
  await world.database.db('tasks').whereIn('task_id', stuck).update({ result_expires_at: soon });
  await until(async () => (await storedTasks(world, { subject, status: 'stopping' })).length === stuck.length);
  // Each of these stops is awaited for 5 s.
  expect(await timeOfStop(tasks, subject, other)).toBeLessThan(4_500);
});

test('many ended tasks are queried in few calls, and end when all their frames are readable', async () => {
  const asked: number[] = [];
  const results = createHttpServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { task_ids: ids } = JSON.parse(Buffer.concat(chunks).toString()) as { task_ids: string[] };
      asked.push(ids.length);
      const items = ids.map((id) => ({ task_id: id, frames_stored: 5 }));
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items }));
    });
  });
  await new Promise<void>((resolve) => results.listen(0, '127.0.0.1', resolve));
  running.push({ stop: () => new Promise((resolve) => results.close(() => resolve()).closeAllConnections()) });
  const tasks = await startWith({ RESULTS_URL: `http://127.0.0.1:${(results.address() as AddressInfo).port}` });
  const subject = randomUUID();
  const files = await createMany(tasks, 40, subject);
  for (const id of files) {
    Object.assign(world.backend.jobs.get(id) ?? {}, { frames_published: 5 });
    world.backend.end(id, 'succeeded');
  }
  const done = async () => (await storedTasks(world, { subject, status: 'succeeded' })).length === files.length;
  await until(done);
  expect(Math.max(...asked)).toBeGreaterThan(1);
  expect(Math.max(...asked)).toBeLessThanOrEqual(100);
});
