import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { imageCallFinished } from '@vision/contracts/image-events';
import { taskDeleted } from '@vision/contracts/task-events';
import { createProducer } from '@vision/kafka/producer';
import { testMetrics } from '@vision/shared/testing/metrics';
import { KEPT_MS } from '@vision/shared/testing/kept-connections';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { CallOptions, TestTasks, World } from './support/system.ts';
import { upload } from './support/videos.ts';

const notFound = {
  type: 'about:blank',
  title: 'x',
  status: 404,
  detail: 'x',
  instance: 'x',
  details: { reason: 'not_found' },
  trace_id: '',
  retryable: false,
};

/** Fake of results and images: records deletion requests; `isAway` fails all requests. */
const neighbours = {
  told: [] as string[],
  isAway: false,
  calls: new Map<string, object>(),
  /** Delays answers to deletions. */
  busy: Promise.resolve(),
};
const server = createServer({ keepAliveTimeout: KEPT_MS }, (req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const answer = (status: number, body: object) => {
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (neighbours.isAway) {
      answer(500, {});
      return;
    }
    if (req.method === 'GET') {
      const call = neighbours.calls.get(req.url?.split('/').at(-1) ?? '');
      if (call) answer(200, call);
      else answer(404, notFound);
      return;
    }
    const { task_ids: ids } = JSON.parse(Buffer.concat(chunks).toString()) as { task_ids: string[] };
    const isDeletion = req.url?.includes('deleted-') === true;
    if (isDeletion) neighbours.told.push(...ids.map((id) => `${req.url?.split('/').at(-1)} ${id}`));
    void neighbours.busy.then(() => answer(200, isDeletion ? { task_ids: ids } : { items: [] }));
  });
});

const metrics = testMetrics();
let world: World;
let tasks: TestTasks;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = await createWorld({ RESULTS_URL: url, IMAGES_URL: url });
  tasks = await startTasks(world);
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
});
afterEach(() => {
  neighbours.isAway = false;
  neighbours.busy = Promise.resolve();
});

const pathOf = (taskId: string) => `/v1/vision/tasks/${taskId}`;
const remove = (taskId: string, options: CallOptions) => tasks.call('DELETE', pathOf(taskId), options);
const statusOf = async (path: string, options: CallOptions) => {
  const { status, body } = await tasks.call('GET', path, options);
  return [status, body.details?.['reason']];
};
const gone = [404, 'task_not_found'];
const deletion = (taskId: string) => world.database.db('deleted_tasks').where({ task_id: taskId });
const published = (taskId: string) =>
  world.database.db('outbox').where({ key: taskId, type: taskDeleted.type }).select('topic', 'payload');
const retention = () => tasks.call('POST', '/internal/v1/retention/run', { subject: 'operator' });

async function stoppedStream(scene: { subject: string; key?: string }): Promise<string> {
  const { body } = await tasks.create(scene);
  await tasks.call('POST', `${pathOf(body.task_id)}/stop`, scene);
  return body.task_id;
}

const callOf = (subject: string) => {
  const task_id = uuidv7();
  const now = new Date().toISOString();
  return {
    task_id,
    version: 1,
    subject,
    request_id: randomUUID(),
    scene_code: 'fire_smoke',
    status: 'succeeded' as const,
    reservation_id: `${task_id}/1`,
    images_total: 1,
    images_succeeded: 1,
    created_at: now,
    updated_at: now,
    result_expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  };
};

/** Publishes the event of an image call and then that of another call; resolves when both are handled. */
async function publishCall(data: ReturnType<typeof callOf>): Promise<void> {
  const marker = { ...callOf(randomUUID()), subject: data.subject };
  const producer = createProducer(world.kafka.client);
  for (const one of [data, marker])
    await producer.publish([{ ...imageCallFinished, key: data.task_id, source: 'images', data: one }]);
  await producer.stop();
  await until(async () => (await storedTasks(world, { task_id: marker.task_id })).length === 1);
}

test('an upload task is deleted with its video once it has ended, and its key creates nothing new', async () => {
  const scene = { subject: randomUUID(), key: randomUUID() };
  const send = () => upload({ port: tasks.port, ...scene });
  const { task_id: id } = (await send()).body;
  const early = await remove(id, scene);
  expect([early.status, early.body.code, early.body.details]).toEqual([
    409,
    undefined,
    expect.objectContaining({ reason: 'task_not_ended', status: 'running' }),
  ]);
  await tasks.call('POST', `${pathOf(id)}/stop`, scene);
  const deleted = await remove(id, scene);
  expect([deleted.status, deleted.body]).toEqual([202, { task_id: id, deleted_at: expect.any(String) }]);
  // The answer waits for the removal, but not for long.
  await until(() => neighbours.told.includes(`deleted-tasks ${id}`));
  const assertGone = async () => {
    expect(await statusOf(pathOf(id), scene)).toEqual(gone);
    expect(await statusOf(`${pathOf(id)}/video`, scene)).toEqual(gone);
    expect(await statusOf(`/internal/v1/tasks/${id}`, { ...scene, issuer: 'results' })).toEqual(gone);
    expect((await tasks.call('GET', '/v1/vision/tasks', scene)).body['items']).toEqual([]);
    const repeated = await send();
    expect([repeated.status, repeated.body.code, repeated.body.details?.['reason']]).toEqual([
      404,
      undefined,
      'task_not_found',
    ]);
    expect(await world.quota.used(scene.subject)).toBe(1);
    const again = await remove(id, scene);
    expect([again.status, again.body]).toEqual([202, deleted.body]);
  };
  await assertGone();
  await retention();
  expect(await storedTasks(world, { task_id: id })).toEqual([]);
  expect(await world.s3.objects()).not.toContain(await world.videoOf(id));
  await assertGone();
  // The ledger keeps its entry, and operators can read the history of an id.
  expect(await world.quota.reservations(scene.subject)).toMatchObject([{ charged: 1 }]);
  const history = await tasks.call('GET', `/internal/v1/tasks/${id}/history`, { subject: 'operator' });
  expect(JSON.stringify(history.body)).toContain('the owner deleted the task');
  const known = { subject: 'auditor', issuer: 'results' as const, body: { task_ids: [id, uuidv7()] } };
  expect((await tasks.call('POST', '/internal/v1/known-tasks', known)).body['task_ids']).toEqual([id]);
});

test('a task of another subject and an unknown id are both not found', async () => {
  const owner = { subject: randomUUID() };
  const id = await stoppedStream(owner);
  const [foreign, unknown] = [await remove(id, { subject: randomUUID() }), await remove(uuidv7(), owner)];
  expect([foreign.status, foreign.body.details]).toEqual([404, unknown.body.details]);
  expect(unknown.status).toBe(404);
  expect((await statusOf(pathOf(id), owner))[0]).toBe(200);
  await remove(id, owner);
  expect((await remove(id, { subject: randomUUID() })).status).toBe(404);
});

test('two concurrent deletions of a task get the same answer; one deletion is stored and published', async () => {
  const owner = { subject: randomUUID() };
  const id = await stoppedStream(owner);
  const answers = await Promise.all(Array.from({ length: 5 }, () => remove(id, owner)));
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
  expect(new Set(answers.map(({ body }) => body['deleted_at'])).size).toBe(1);
  expect(await deletion(id)).toHaveLength(1);
  const payload = { task_id: id, subject: owner.subject, deleted_at: answers[0]?.body['deleted_at'] };
  expect(await published(id)).toEqual([{ topic: taskDeleted.topic, payload }]);
});

test('a repeat during the removal of results gets the same answer and removes no data twice', async () => {
  const owner = { subject: randomUUID() };
  const id = await stoppedStream(owner);
  const removed = Promise.withResolvers<void>();
  neighbours.busy = removed.promise;
  const first = await remove(id, owner);
  const repeats = [await remove(id, owner), await remove(id, owner)];
  expect(repeats.map(({ status, body }) => [status, body])).toEqual([
    [202, first.body],
    [202, first.body],
  ]);
  const told = () => neighbours.told.filter((one) => one === `deleted-tasks ${id}`);
  expect(told()).toHaveLength(1);
  expect(await deletion(id)).toMatchObject([{ confirmed_at: null }]);
  removed.resolve();
  await until(async () => (await deletion(id).whereNotNull('confirmed_at')).length === 1);
  expect(told()).toHaveLength(1);
});

test('an image call deleted before its event arrives stays deleted after the event', async () => {
  const subject = randomUUID();
  const call = callOf(subject);
  neighbours.calls.set(call.task_id, { ...call, kind: 'image' });
  expect((await remove(call.task_id, { subject })).status).toBe(202);
  neighbours.calls.delete(call.task_id);
  expect(await published(call.task_id)).toMatchObject([{ payload: { task_id: call.task_id, subject } }]);
  await until(() => neighbours.told.includes(`deleted-image-calls ${call.task_id}`));
  const listed = async () => {
    const { items } = (await tasks.call('GET', '/v1/vision/tasks', { subject })).body as unknown as {
      items: { task_id: string }[];
    };
    return items.some(({ task_id: id }) => id === call.task_id);
  };
  await publishCall(call);
  expect(await listed()).toBe(false);
  await retention();
  expect(await storedTasks(world, { task_id: call.task_id })).toEqual([]);
  await publishCall(call);
  expect(await listed()).toBe(false);
  expect(await storedTasks(world, { task_id: call.task_id })).toEqual([]);
});

test('a task is deleted although results does not answer; the deletion is repeated until confirmed', async () => {
  const owner = { subject: randomUUID() };
  const id = await stoppedStream(owner);
  neighbours.isAway = true;
  expect((await remove(id, owner)).status).toBe(202);
  expect(await statusOf(pathOf(id), owner)).toEqual(gone);
  expect(await deletion(id)).toMatchObject([{ confirmed_at: null }]);
  await deletion(id).update({ deleted_at: world.database.db.raw("now() - interval '2 hours'") });
  await until(async () => ((await metrics.sumOf('vision.tasks.oldest_unconfirmed_deletion_age')) ?? 0) >= 7200);
  neighbours.isAway = false;
  await deletion(id).update({ tell_at: new Date(0) });
  await until(async () => (await deletion(id).whereNotNull('confirmed_at')).length === 1);
  expect(neighbours.told.filter((told) => told === `deleted-tasks ${id}`)).toHaveLength(1);
});

test('a confirmed deletion is repeated later, and hides records restored by an earlier release', async () => {
  const owner = { subject: randomUUID() };
  const id = await stoppedStream(owner);
  await remove(id, owner);
  const { db } = world.database;
  await db('tasks')
    .where({ task_id: id })
    .update({ result_expires_at: new Date(Date.now() + 86_400_000) });
  await deletion(id).update({ tell_at: new Date(0) });
  await until(() => neighbours.told.filter((told) => told === `deleted-tasks ${id}`).length === 2);
  expect(await statusOf(pathOf(id), owner)).toEqual(gone);
});

test('the key of a deleted task is free once its results would have expired', async () => {
  const scene = { subject: randomUUID(), key: randomUUID() };
  const id = await stoppedStream(scene);
  await remove(id, scene);
  expect((await tasks.create(scene)).status).toBe(404);
  await deletion(id).update({ expires_at: new Date(0) });
  expect((await remove(id, scene)).status).toBe(404);
  await retention();
  expect(await deletion(id)).toEqual([]);
  expect((await tasks.create(scene)).status).toBe(201);
});
