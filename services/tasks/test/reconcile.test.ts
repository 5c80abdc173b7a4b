import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { taskResultsCompleted } from '@vision/contracts/task-events';
import { readBody } from '@vision/shared/http/read-body';
import { createProducer } from '@vision/kafka/producer';
import type { EventProducer } from '@vision/kafka/producer';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

let world: World;
let tasks: TestTasks;
let producer: EventProducer;
beforeAll(async () => {
  world = await createWorld({ RESULTS_GRACE_MS: '600000', VANISH_MS: '600', STOP_WAIT_MS: '400' });
  tasks = await startTasks(world);
  producer = createProducer(world.kafka.client);
});
afterAll(async () => {
  await producer.stop();
  await tasks.stop();
  await world.close();
});
afterEach(() => {
  world.backend.onSubmit = () => 'accept';
  world.backend.onStop = () => 'answer';
  world.backend.isWell = true;
  world.backend.tellsAttempt = false;
});

const limits = { video_tasks_per_day: 1000, active_tasks: 1000 };
const create = async (subject: string) => (await tasks.create({ subject, limits })).body.task_id;
const statusOf = async (id: string, subject: string) =>
  (await tasks.call('GET', `/v1/vision/tasks/${id}`, { subject })).body.status;
const becomes = (id: string, subject: string, status: string) =>
  until(async () => (await statusOf(id, subject)) === status);
const verify = (id: string, outcome: string) =>
  tasks.call('POST', `/internal/v1/tasks/${id}/verification`, {
    subject: 'operator',
    body: { outcome, note: 'looked', who: 'ann' },
  });
/** Waits until the backend has been queried about the task again. */
const askedAgain = async (id: string) => {
  const dueAt = async () => Number((await storedTasks(world, { task_id: id }))[0]?.check_at);
  const first = await dueAt();
  await until(async () => (await dueAt()) > first + 200);
};
const publish = (id: string, frames: number) => {
  Object.assign(world.backend.jobs.get(id) ?? {}, { frames_published: frames });
};
const resultsCompleted = (task_id: string, status: 'stopped' | 'succeeded' | 'failed', attempt = 1) =>
  producer.publish([
    {
      ...taskResultsCompleted,
      key: task_id,
      source: 'results',
      data: { task_id, attempt, status, frames_stored: 5 },
    },
  ]);

/** The last published state of the task. */
const lastTold = async (id: string) => {
  const told = world.database.db('outbox').where({ key: id }).orderBy('id', 'desc');
  return (await told.first<{ payload: object }>('payload')).payload;
};

test('the end of a job ends its task only when its frames are readable', async () => {
  const subject = randomUUID();
  const id = await create(subject);
  publish(id, 5);
  world.backend.end(id, 'succeeded');
  await until(async () => (await storedTasks(world, { task_id: id }))[0]?.job_ended_at);
  expect(await statusOf(id, subject)).toBe('running');
  await resultsCompleted(id, 'succeeded');
  await becomes(id, subject, 'succeeded');
  expect(await lastTold(id)).toMatchObject({ status: 'succeeded', frames_published: 5 });
});

test('the end-of-stream marker of an earlier attempt does not end a task whose job continued', async () => {
  world.backend.tellsAttempt = true;
  const subject = randomUUID();
  const id = await create(subject);
  await resultsCompleted(id, 'succeeded');
  await until(async () => (await storedTasks(world, { task_id: id }))[0]?.results_attempt === 1);
  Object.assign(world.backend.jobs.get(id) ?? {}, { attempt: 2, frames_published: 5 });
  world.backend.end(id, 'succeeded');
  await until(async () => (await storedTasks(world, { task_id: id }))[0]?.job_ended_at);
  expect(await statusOf(id, subject)).toBe('running');
  const grace = world.database.db('tasks').where({ task_id: id });
  await resultsCompleted(id, 'succeeded', 2);
  await becomes(id, subject, 'succeeded');
  expect(await grace.first('job_attempt', 'results_attempt')).toEqual({ job_attempt: 2, results_attempt: 2 });
});

test('without an end-of-stream marker a task ends after the grace, and an alarm counts it', async () => {
  await tasks.stop();
  tasks = await startTasks(world, { RESULTS_GRACE_MS: '1500' });
  try {
    const subject = randomUUID();
    const id = await create(subject);
    publish(id, 5);
    world.backend.end(id, 'failed', 'source_lost');
    const begun = Date.now();
    await becomes(id, subject, 'failed');
    expect(Date.now() - begun).toBeGreaterThan(1_200);
    expect((await storedTasks(world, { task_id: id }))[0]?.reason).toBe('source_lost');
  } finally {
    await tasks.stop();
    tasks = await startTasks(world);
  }
});

test('without an end-of-stream marker a task ends when all published frames are readable', async () => {
  let stored = 4;
  const results = createServer((req, res) => {
    void readBody(req, 100_000).then((body) => {
      const { task_ids: ids } = JSON.parse(body.toString()) as { task_ids: string[] };
      const items = ids.map((task_id) => ({ task_id, frames_stored: stored }));
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items }));
    });
  });
  await new Promise<void>((resolve) => results.listen(0, '127.0.0.1', resolve));
  const { port } = results.address() as AddressInfo;
  // No other replica may reconcile the task.
  await tasks.stop();
  tasks = await startTasks(world, { RESULTS_URL: `http://127.0.0.1:${port}` });
  try {
    const subject = randomUUID();
    const id = await create(subject);
    publish(id, 5);
    world.backend.end(id, 'succeeded');
    await until(async () => (await storedTasks(world, { task_id: id }))[0]?.job_ended_at);
    await askedAgain(id);
    expect(await statusOf(id, subject)).toBe('running');
    stored = 5;
    await becomes(id, subject, 'succeeded');
  } finally {
    await tasks.stop();
    tasks = await startTasks(world);
    await new Promise((resolve) => results.close(resolve).closeAllConnections());
  }
});

test('a running job is queried rarely, and its task ends as soon as its end-of-stream marker arrives', async () => {
  await tasks.stop();
  tasks = await startTasks(world, { QUIET_RECONCILE_MS: '600000', VANISH_MS: '600000' });
  try {
    const subject = randomUUID();
    const id = await create(subject);
    const dueAt = async () => Number((await storedTasks(world, { task_id: id }))[0]?.check_at);
    await until(async () => (await dueAt()) > Date.now() + 200_000);
    world.backend.end(id, 'succeeded');
    await resultsCompleted(id, 'succeeded');
    await becomes(id, subject, 'succeeded');
  } finally {
    await tasks.stop();
    tasks = await startTasks(world);
  }
});

test('a due task and an event, both without a wake-up, are found soon', async () => {
  await tasks.stop();
  tasks = await startTasks(world, { QUIET_RECONCILE_MS: '600000', VANISH_MS: '1200000' });
  try {
    const id = await create(randomUUID());
    const { db } = world.database;
    const isQuiet = async () => Number((await storedTasks(world, { task_id: id }))[0]?.check_at) > Date.now() + 200_000;
    const isTold = async () => (await db('outbox').where({ key: id }).whereNull('published_at')).length === 0;
    await until(async () => (await isQuiet()) && (await isTold()));
    await db('tasks').where({ task_id: id }).update({ check_at: db.fn.now() });
    await db('outbox').where({ key: id }).update({ published_at: null });
    await until(async () => (await isQuiet()) && (await isTold()));
  } finally {
    await tasks.stop();
    tasks = await startTasks(world);
  }
});

test('an early end-of-stream marker ends its task as soon as the backend reports the end', async () => {
  await tasks.stop();
  tasks = await startTasks(world, { QUIET_RECONCILE_MS: '600000', VANISH_MS: '600000' });
  try {
    const subject = randomUUID();
    const id = await create(subject);
    await resultsCompleted(id, 'succeeded');
    await until(async () => (await storedTasks(world, { task_id: id }))[0]?.results_attempt === 1);
    await askedAgain(id);
    world.backend.end(id, 'succeeded');
    await becomes(id, subject, 'succeeded');
  } finally {
    await tasks.stop();
    tasks = await startTasks(world);
  }
});

test('a job without published frames ends its task at once', async () => {
  const subject = randomUUID();
  const id = await create(subject);
  world.backend.end(id, 'failed', 'no_video');
  await becomes(id, subject, 'failed');
});

test('many tasks are queried in one request', async () => {
  const subject = randomUUID();
  const ids = await Promise.all(Array.from({ length: 20 }, () => create(subject)));
  for (const id of ids) world.backend.end(id, 'succeeded');
  for (const id of ids) await becomes(id, subject, 'succeeded');
  const moves = await world.database.db('task_moves').whereIn('task_id', ids).where({ move: 'end_succeeded' });
  expect(moves).toHaveLength(20);
});

test('a stop that the backend does not answer is repeated until it is confirmed', async () => {
  const subject = randomUUID();
  const id = await create(subject);
  world.backend.onStop = () => 'hang';
  const stopping = await tasks.call('POST', `/v1/vision/tasks/${id}/stop`, { subject });
  expect([stopping.status, stopping.body.status]).toEqual([200, 'stopping']);
  const second = await tasks.call('POST', `/v1/vision/tasks/${id}/stop`, { subject });
  expect([second.status, second.body.status]).toEqual([200, 'stopping']);
  world.backend.onStop = () => 'answer';
  await becomes(id, subject, 'stopped');
});

test('a stop in resolving is stored, sent at once, and applied when the job is found', async () => {
  const subject = randomUUID();
  world.backend.onSubmit = () => 'drop';
  const id = await create(subject);
  expect(await statusOf(id, subject)).toBe('resolving');
  const answer = await tasks.call('POST', `/v1/vision/tasks/${id}/stop`, { subject });
  expect([answer.status, answer.body.status]).toEqual([200, 'resolving']);
  expect(world.backend.jobs.get(id)?.status).toBe('stopped');
  await askedAgain(id);
  expect(await statusOf(id, subject)).toBe('resolving');
  const verified = await verify(id, 'not_created');
  expect([verified.status, verified.body.status]).toEqual([200, 'refunded']);
  expect(await world.quota.used(subject)).toBe(0);
});

test('a stop of a job with an unknown but accepted submission stops the task', async () => {
  const subject = randomUUID();
  world.backend.onSubmit = () => 'accept_and_drop_reply';
  const created = tasks.create({ subject, limits });
  const { body } = await created;
  await tasks.call('POST', `/v1/vision/tasks/${body.task_id}/stop`, { subject });
  await becomes(body.task_id, subject, 'stopped');
});

test('a single vanished job fails its task after a while', async () => {
  const subject = randomUUID();
  const id = await create(subject);
  publish(id, 5);
  await until(async () => (await storedTasks(world, { task_id: id }))[0]?.job_seen_at);
  world.backend.jobs.delete(id);
  const begun = Date.now();
  await becomes(id, subject, 'failed');
  expect(Date.now() - begun).toBeGreaterThan(500);
  expect(await world.quota.used(subject)).toBe(1);
  // No end-of-stream marker will report its published frames, so no service may wait for one.
  expect(await lastTold(id)).toMatchObject({ status: 'failed', frames_published: 0 });
  const asked = await tasks.call('GET', `/internal/v1/tasks/${id}`, { subject, issuer: 'results' });
  expect(asked.body).toMatchObject({ status: 'failed', frames_published: 0 });
});

test('a job that is missing at an unhealthy backend has not vanished', async () => {
  const subject = randomUUID();
  const id = await create(subject);
  await until(async () => (await storedTasks(world, { task_id: id }))[0]?.job_seen_at);
  world.backend.isWell = false;
  world.backend.jobs.delete(id);
  const isOverdue = async () => {
    const since = (await storedTasks(world, { task_id: id }))[0]?.job_missing_since;
    return since && Date.now() - Number(since) > 1_500;
  };
  await until(isOverdue);
  await askedAgain(id);
  expect(await statusOf(id, subject)).toBe('running');
  world.backend.isWell = true;
  await becomes(id, subject, 'failed');
});

test('a backend that lost all jobs fails no task', async () => {
  const subject = randomUUID();
  const ids = await Promise.all(Array.from({ length: 5 }, () => create(subject)));
  const kept = new Map(world.backend.jobs);
  world.backend.forgetAll();
  await until(() => tasks.log().includes('many jobs missing'));
  for (const id of ids) expect(await statusOf(id, subject)).toBe('running');
  for (const [id, job] of kept) world.backend.jobs.set(id, job);
  for (const id of ids) world.backend.end(id, 'succeeded');
  for (const id of ids) await becomes(id, subject, 'succeeded');
});

test('verification: created keeps the charge, repeats change nothing, contradictions are refused', async () => {
  const subject = randomUUID();
  world.backend.onSubmit = () => 'drop';
  const id = await create(subject);
  const { body: waiting } = await tasks.call('GET', '/internal/v1/tasks?status=resolving', { subject: 'operator' });
  const items = waiting['items'] as Record<string, unknown>[];
  expect(items.find((item) => item['task_id'] === id)).toMatchObject({
    status: 'resolving',
    job_seen: false,
    source: 'http://127.0.0.1',
    subject,
  });
  expect((await verify(id, 'created')).body.status).toBe('running');
  expect((await verify(id, 'created')).status).toBe(200);
  expect((await verify(id, 'not_created')).status).toBe(409);
  expect(await world.quota.used(subject)).toBe(1);
  const moves = await world.database.db('task_moves').where({ task_id: id, actor: 'operator' });
  expect(moves).toMatchObject([{ move: 'verify_created', note: 'ann: looked' }]);
});

test('verification: not created stops at the backend first, refunds the unit, and stops a job that appears', async () => {
  const subject = randomUUID();
  world.backend.onSubmit = () => 'drop';
  const id = await create(subject);
  world.backend.onStop = () => 'hang';
  expect((await verify(id, 'not_created')).body).toMatchObject({ code: 'OP-TASK-UPSTREAM-DOWN' });
  expect(await statusOf(id, subject)).toBe('resolving');
  world.backend.onStop = () => 'answer';
  expect((await verify(id, 'not_created')).body.status).toBe('refunded');
  expect(world.backend.jobs.get(id)?.status).toBe('stopped');
  expect(await world.quota.used(subject)).toBe(0);
  expect((await verify(id, 'not_created')).status).toBe(200);
  expect((await verify(id, 'created')).status).toBe(409);
  Object.assign(world.backend.jobs.get(id) ?? {}, { status: 'running' });
  await world.database
    .db('tasks')
    .where({ task_id: id })
    .update({ check_at: new Date(0) });
  await until(() => world.backend.jobs.get(id)?.status === 'stopped');
  expect(await statusOf(id, subject)).toBe('refunded');
});

test('with an unreachable backend tasks stay unchanged, and are queried again when it returns', async () => {
  const subject = randomUUID();
  const id = await create(subject);
  const away = await startTasks(world, { INFERENCE_URL: 'http://127.0.0.1:1' });
  try {
    expect((await away.create({ subject, limits })).body).toMatchObject({ code: 'OP-TASK-UPSTREAM-DOWN' });
  } finally {
    await away.stop();
  }
  expect(await statusOf(id, subject)).toBe('running');
});

test('a task is stopped a day before its results expire', async () => {
  const subject = randomUUID();
  const id = await create(subject);
  await world.database
    .db('tasks')
    .where({ task_id: id })
    .update({ result_expires_at: new Date(Date.now() + 23 * 3_600_000) });
  await becomes(id, subject, 'stopped');
});
