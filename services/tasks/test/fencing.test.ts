import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inTransaction } from '@vision/shared/db/transaction';
import { until } from '@vision/shared/testing/until';
import { moveTask, TaskMovedError } from '../src/db/move-task.ts';
import { findKey, insertKey } from '../src/db/idempotency-keys.ts';
import { findVideoTask, insertDraft } from '../src/db/tasks.ts';
import { freePort } from '@vision/shared/testing/ports';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import { callService, createWorld, startTasks, storedTasks } from './support/system.ts';
import type { World } from './support/system.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await world.close();
});

const newDraft = async () => {
  const taskId = randomUUID();
  const known = { kind: 'stream', snapshots: 'off' } as const;
  const draft = { ...known, taskId, subject: randomUUID(), requestId: taskId, requestKey: taskId };
  return insertDraft(world.database.db, { draft, leaseMs: 1000, retentionDays: 90 });
};
const scene = { sceneCode: 'ship', lowerBound: 0.3, defaultMinScore: 0.8, snapshots: 'off' } as const;
const changes = { admit: { move: 'admit', scene }, give_up: { move: 'give_up', recoverAfterMs: 0 } } as const;
const move = (task: Awaited<ReturnType<typeof newDraft>>, name: 'admit' | 'give_up') =>
  inTransaction(world.database.db, (tx) => moveTask(tx, task, changes[name]));

test('of concurrent writers with the same version, only one moves the task', async () => {
  const draft = await newDraft();
  const outcomes = await Promise.allSettled([move(draft, 'admit'), move(draft, 'give_up'), move(draft, 'admit')]);
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(TaskMovedError);
  expect((await findVideoTask(world.database.db, draft.taskId))?.version).toBe(2);
});

test('after a takeover the former holder cannot write any more', async () => {
  const draft = await newDraft();
  await world.database.db('tasks').where({ task_id: draft.taskId }).increment('attempt', 1);
  await expect(move(draft, 'admit')).rejects.toBeInstanceOf(TaskMovedError);
  expect((await findVideoTask(world.database.db, draft.taskId))?.status).toBe('draft');
});

test('the key of a dead request is taken over: its draft moves to `undoing`, with a recorded move', async () => {
  const { db } = world.database;
  // After its recovery run at the start, only the next request rolls back the draft.
  const tasks = await startTasks(world, { RECOVERY_MS: '600000' });
  try {
    const { taskId, subject } = await newDraft();
    const claim = { subject, key: taskId, taskId, owner: randomUUID() };
    await insertKey(db, claim, { fingerprint: 'of a request that died', leaseMs: 0 });
    // No replica ran before this one, so it takes no lease over for one lease period.
    await until(async () => (await findKey(db, claim))?.is_dead);
    expect((await tasks.create({ subject, key: taskId })).status).toBe(201);
    expect(await db('tasks').where({ task_id: taskId }).first()).toMatchObject({ status: 'undoing', attempt: 2 });
    expect(await db('task_moves').where({ task_id: taskId })).toMatchObject([
      { move: 'take_over', from_status: 'draft', to_status: 'undoing', version: 2, attempt: 2 },
    ]);
  } finally {
    await tasks.stop();
  }
});

/** A stream that delays its first visitor until `release`. */
async function slowStream() {
  const held: ServerResponse[] = [];
  let visits = 0;
  const answer = (res: ServerResponse) => res.writeHead(200, { 'content-type': 'video/mp2t' }).end('#EXTM3U\n');
  const server = createServer((_req, res) => {
    visits += 1;
    if (visits === 1) held.push(res);
    else answer(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/live`,
    visits: () => visits,
    release: () => held.forEach(answer),
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

test('a process that sleeps through its lease submits no job and charges no unit when it wakes up', async () => {
  const stream = await slowStream();
  const submitsBefore = world.backend.submits.length;
  const [port, healthPort] = [await freePort(), await freePort()];
  const env = {
    PORT: String(port),
    HEALTH_PORT: String(healthPort),
    PROBE_TOTAL_MS: '60000',
    KAFKA_BROKERS: '127.0.0.1:1',
  };
  const sleeper = startProcess('tasks', { ...world.env, ...env });
  await untilReady(sleeper, healthPort);
  const subject = randomUUID();
  const request = { subject, key: randomUUID(), body: { scene_code: 'ship', stream_url: stream.url } };
  const early = callService(port, 'POST', '/v1/vision/tasks', request);
  await until(() => stream.visits() === 1);
  sleeper.child.kill('SIGSTOP');
  const awake = await startTasks(world);
  try {
    const created = await awake.call('POST', '/v1/vision/tasks', request);
    expect(created.status).toBe(201);
    stream.release();
    sleeper.child.kill('SIGCONT');
    expect((await early).status).toBe(503);
    await until(async () => (await storedTasks(world, { subject })).length === 1);
    expect((await storedTasks(world, { subject }))[0]?.task_id).toBe(created.body.task_id);
    const submits = world.backend.submits.slice(submitsBefore);
    expect(submits.map(({ jobId }) => jobId)).toEqual([created.body.task_id]);
    expect(await world.quota.used(subject)).toBe(1);
    expect((await awake.call('POST', '/v1/vision/tasks', request)).status).toBe(200);
  } finally {
    await awake.stop();
    await sleeper.stop();
    await stream.close();
  }
});
