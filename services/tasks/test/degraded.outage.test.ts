import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import type { ReconcileDeps } from '../src/use-cases/deps.ts';
import { createReconciler } from '../src/use-cases/follow/reconcile.ts';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';
import { upload } from './support/videos.ts';

let world: World;
const running: TestTasks[] = [];
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await world.close();
});
afterEach(async () => {
  world.backend.onSubmit = () => 'accept';
  await Promise.all(running.splice(0).map((tasks) => tasks.stop()));
});

const CLOSED = 'http://127.0.0.1:1';
async function start(env: Record<string, string> = {}): Promise<TestTasks> {
  const tasks = await startTasks(world, env);
  running.push(tasks);
  return tasks;
}
const limits = { video_tasks_per_day: 1000, active_tasks: 1000 };

test('failures of the backend open the breaker: it refuses create requests, and all other requests work', async () => {
  const tasks = await start({ BREAKER_RESET_MS: '600000' });
  const subject = randomUUID();
  const key = randomUUID();
  const { body: first } = await tasks.create({ subject, key, limits });
  world.backend.onSubmit = () => 'accept_and_say_500';
  for (let index = 0; index < 12; index += 1) await tasks.create({ subject, limits });
  const refused = await tasks.create({ subject, limits });
  expect([refused.status, refused.body.code, refused.body.details?.['reason']]).toEqual([
    503,
    'OP-TASK-BREAKER-OPEN',
    'breaker_open',
  ]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  const rawUpload = await upload({ port: tasks.port, subject, key: randomUUID() });
  expect(rawUpload.body.code).toBe('OP-TASK-BREAKER-OPEN');
  expect((await tasks.create({ subject, key, limits })).status).toBe(200);
  expect((await tasks.call('GET', `/v1/vision/tasks/${first.task_id}`, { subject })).status).toBe(200);
  expect((await tasks.call('POST', `/v1/vision/tasks/${first.task_id}/stop`, { subject })).body.status).toBe('stopped');
});

test('the breaker closes by itself when the backend has recovered', async () => {
  const tasks = await start();
  const subject = randomUUID();
  world.backend.onSubmit = () => 'accept_and_say_500';
  const codes: unknown[] = [];
  await until(async () => {
    codes.push((await tasks.create({ subject, limits })).body.code);
    return codes.includes('OP-TASK-BREAKER-OPEN');
  });
  const used = await world.quota.used(subject);
  world.backend.onSubmit = () => 'accept';
  await until(async () => (await tasks.create({ subject, limits })).status === 201);
  expect(await world.quota.used(subject)).toBe(used + 1);
});

test('a full or refusing backend never opens the breaker', async () => {
  const tasks = await start();
  const subject = randomUUID();
  for (const mode of ['no_capacity', 'refuse'] as const) {
    world.backend.onSubmit = () => mode;
    for (let index = 0; index < 15; index += 1) await tasks.create({ subject, limits });
  }
  world.backend.onSubmit = () => 'accept';
  expect((await tasks.create({ subject, limits })).status).toBe(201);
});

test('an unavailable backend: no charge and no visible task, then the breaker answers', async () => {
  const tasks = await start({ INFERENCE_URL: CLOSED, BREAKER_RESET_MS: '600000' });
  const subject = randomUUID();
  const codes: unknown[] = [];
  for (let index = 0; index < 11; index += 1) codes.push((await tasks.create({ subject, limits })).body.code);
  expect(codes.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'OP-TASK-UPSTREAM-DOWN'));
  expect(codes[10]).toBe('OP-TASK-BREAKER-OPEN');
  expect(await world.quota.used(subject)).toBe(0);
  expect(await storedTasks(world, { subject })).toEqual([]);
});

test.each(['', 'http://inference.invalid:8080'])('a backend address of %j counts as not configured', async (url) => {
  const tasks = await start({ INFERENCE_URL: url });
  const subject = randomUUID();
  const refused = await tasks.create({ subject, limits });
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-SYS-UNAVAILABLE']);
  expect(await storedTasks(world, { subject })).toEqual([]);
  expect((await tasks.call('GET', '/v1/vision/tasks', { subject })).status).toBe(200);
});

test('a stop is answered within its time, although the backend does not answer', async () => {
  const tasks = await start({ STOP_WAIT_MS: '6000' });
  const subject = randomUUID();
  const { body } = await tasks.create({ subject, limits });
  world.backend.onStop = () => 'hang';
  const began = Date.now();
  const stopping = await tasks.call('POST', `/v1/vision/tasks/${body.task_id}/stop`, { subject });
  world.backend.onStop = () => 'answer';
  expect([stopping.status, stopping.body.status]).toEqual([200, 'stopping']);
  // The silence of 5 s and the wait of 6 s overlap.
  expect(Date.now() - began).toBeLessThan(10_500);
});

test('quota unavailable: create requests are refused; when it returns, no data is left and the key is free', async () => {
  const tasks = await start();
  const subject = randomUUID();
  const key = randomUUID();
  await world.quota.kill();
  const refused = await tasks.create({ subject, key });
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-SYS-UNAVAILABLE']);
  expect((await tasks.call('GET', '/v1/vision/tasks', { subject })).status).toBe(200);
  await world.quota.start();
  expect(await tasks.create({ subject, key })).toMatchObject({ status: 201 });
  expect(await world.quota.used(subject)).toBe(1);
});

test('object store unavailable: uploads are refused, streams are not', async () => {
  const tasks = await start({ S3_ENDPOINT: CLOSED });
  const subject = randomUUID();
  const refused = await upload({ port: tasks.port, subject, key: randomUUID() });
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-SYS-UNAVAILABLE']);
  expect((await tasks.create({ subject })).status).toBe(201);
  await running.splice(0)[0]?.stop();
  const healed = await start();
  await until(async () => (await storedTasks(world, { subject, kind: 'upload' })).length === 0);
  expect((await upload({ port: healed.port, subject, key: randomUUID() })).status).toBe(201);
});

test('the refusal of an upload does not wait for a hanging store to remove its remains', async () => {
  // The first request for the remains of an upload is refused, which fails it; the next one is never answered.
  const asked: string[] = [];
  const store = createServer((req, res) => {
    req.resume();
    const url = req.url ?? '';
    if (!asked.includes(url)) res.writeHead(500).end();
    asked.push(url);
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  const { port } = store.address() as AddressInfo;
  const tasks = await start({ S3_ENDPOINT: `http://127.0.0.1:${port}`, S3_IDLE_MS: '60000' });
  const key = randomUUID();
  const began = Date.now();
  const refused = await upload({ port: tasks.port, subject: randomUUID(), key });
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-SYS-UNAVAILABLE']);
  // About four seconds; half a minute and more if it waited for the removals.
  expect(Date.now() - began).toBeLessThan(25_000);
  expect(new Set(asked).size).toBeLessThan(asked.length);
  await new Promise((resolve) => store.close(resolve).closeAllConnections());
});

test('Kafka unavailable: create requests and reads work, events wait and are delivered later', async () => {
  const tasks = await start({ KAFKA_BROKERS: '127.0.0.1:1' });
  const subject = randomUUID();
  const { status, body } = await tasks.create({ subject });
  expect([status, body.status]).toEqual([201, 'running']);
  expect((await tasks.call('POST', `/v1/vision/tasks/${body.task_id}/stop`, { subject })).body.status).toBe('stopped');
  const waiting = () => world.database.db('outbox').where({ key: body.task_id }).whereNull('published_at');
  expect((await waiting()).length).toBeGreaterThan(2);
  await running.splice(0)[0]?.stop();
  await start();
  await until(async () => (await waiting()).length === 0);
});

test('no part of a stream address is in any log, answer, event or table', async () => {
  const tasks = await start();
  const subject = randomUUID();
  const canary = `canary${randomUUID().replaceAll('-', '')}`;
  const address = `http://${canary}:p%40${canary}@${world.stream.origin.slice('http://'.length)}/${canary}?key=${canary}`;
  const answers: string[] = [];
  const hasty = await start({ PROBE_CONNECT_MS: '500', PROBE_TOTAL_MS: '1000' });
  const create = async (url: string, by = tasks) =>
    answers.push(JSON.stringify((await by.create({ subject, url, limits })).body));
  await create(address);
  for (const mode of ['refuse', 'no_capacity', 'drop', 'accept_and_say_garbage'] as const) {
    world.backend.onSubmit = () => mode;
    await create(address);
  }
  for (const bad of [
    `http://${canary}:${canary}@127.0.0.1:1/${canary}`,
    `rtsp://10.0.0.1/${canary}`,
    `ftp://${canary}/`,
    `rtsp://${canary} x/`,
    `http://${canary}:${canary}@no-such.invalid/${canary}`,
  ]) {
    await create(bad, hasty);
  }
  const broken = await start({ DATABASE_POOL: '1', QUOTA_URL: CLOSED });
  answers.push(JSON.stringify((await broken.create({ subject, url: address })).body));
  const tables = await Promise.all(
    ['tasks', 'task_moves', 'idempotency_keys', 'outbox'].map((name) =>
      world.database.db(name).select(world.database.db.raw('*')),
    ),
  );
  expect(answers.join('\n')).not.toContain(canary);
  expect(JSON.stringify(tables)).not.toContain(canary);
  expect(tasks.log() + hasty.log() + broken.log()).not.toContain(canary);
  expect(hasty.log()).toContain('a stream was not reachable');
});

test('a replica without a connection to the backend leaves its tasks to others', async () => {
  const tasks = await start();
  const { body } = await tasks.create({ subject: randomUUID(), limits });
  await tasks.stop();
  running.splice(0);
  const { db } = world.database;
  const dueInMs = async () => {
    const [row] = await db('tasks')
      .where({ task_id: body.task_id })
      .select<{ dueInMs: number }[]>(
        db.raw('(extract(epoch from check_at - clock_timestamp()) * 1000)::float8 as "dueInMs"'),
      );
    return row?.dueInMs;
  };
  let asked = 0;
  const readJobs = () => {
    asked += 1;
    return Promise.reject(new Error('nobody answers'));
  };
  const cutOff = createReconciler({
    db,
    inference: { readJobs },
    loops: { of: () => ({}) },
    signals: { reconcileLag: () => undefined },
    settings: { reconcileMs: 1_000 },
  } as unknown as ReconcileDeps);
  const { signal } = new AbortController();
  const stopping = new AbortController();
  const makeDue = () => db('tasks').where({ task_id: body.task_id }).update({ check_at: db.fn.now() });
  await makeDue();
  await expect(cutOff.runRound(signal)).rejects.toThrow('nobody answers');
  await makeDue();
  // From now on this replica pauses, and claimed tasks are soon due again.
  let hasEnded = false;
  const resting = cutOff.runRound(stopping.signal).finally(() => (hasEnded = true));
  await until(async () => asked === 2 && ((await dueInMs()) ?? 0) > 0);
  expect(await dueInMs()).toBeLessThanOrEqual(1_000);
  await makeDue();
  expect(hasEnded).toBe(false);
  stopping.abort();
  await expect(resting).rejects.toThrow('nobody answers');
  expect(asked).toBe(2);
});
