import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { imageCallFinished } from '@vision/contracts/image-events';
import { defaultLimits } from '@vision/contracts/limits';
import type { KeyScope } from '@vision/contracts/scopes';
import { createProducer } from '@vision/kafka/producer';
import { testToken } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';
import { upload } from './support/videos.ts';

let world: World;
let tasks: TestTasks;
beforeAll(async () => {
  world = await createWorld();
  tasks = await startTasks(world);
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
});

const list = async (subject: string, query = '') => {
  const { status, body } = await tasks.call('GET', `/v1/vision/tasks${query}`, { subject });
  return {
    status,
    body: body as unknown as {
      items: { task_id: string; kind: string; status: string; client_ref?: string }[];
      next_cursor: string;
      details?: unknown;
    },
  };
};

async function imageCall(subject: string, changes: Record<string, unknown> = {}): Promise<string> {
  const now = new Date().toISOString();
  const task_id = uuidv7();
  const data = {
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
    ...changes,
  };
  const producer = createProducer(world.kafka.client);
  // Events may be delivered twice.
  await producer.publish([
    { ...imageCallFinished, key: data.task_id, source: 'images', data },
    { ...imageCallFinished, key: data.task_id, source: 'images', data },
  ]);
  await producer.stop();
  return data.task_id;
}

test('lists own tasks of every kind, newest first, page by page', async () => {
  const subject = randomUUID();
  const limits = { active_tasks: 100, video_tasks_per_day: 100 };
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.push((await tasks.create({ subject, limits })).body.task_id);
  const image = await imageCall(subject);
  ids.push(image);
  await until(async () => (await list(subject)).body.items.length === 6);
  await tasks.create({ subject: randomUUID() });
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await list(subject, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    seen.push(...page.body.items.map((item) => item.task_id));
    cursor = page.body.next_cursor;
  } while (cursor !== '');
  expect(seen).toEqual(ids.toReversed());
  expect((await list(subject, '?kind=image')).body.items).toMatchObject([
    { task_id: image, kind: 'image', status: 'succeeded' },
  ]);
  expect((await list(subject, '?kind=video')).body.items).toHaveLength(5);
  expect((await list(subject, '?scene_code=fire_smoke')).body.items).toHaveLength(1);
  expect((await list(subject, '?status=running')).body.items).toHaveLength(5);
  expect((await list(subject, '?status=failed')).body).toEqual({ items: [], next_cursor: '' });
});

test('lists a time range in the requested order, page by page', async () => {
  const subject = randomUUID();
  const limits = { active_tasks: 100, video_tasks_per_day: 100 };
  const made: { task_id: string; created_at?: unknown }[] = [];
  for (let index = 0; index < 5; index += 1) made.push((await tasks.create({ subject, limits })).body);
  const [, second, , , last] = made.map(({ created_at: at }) => encodeURIComponent(String(at)));
  const span = `?created_after=${second}&created_before=${last}&order=oldest&limit=2`;
  const first = (await list(subject, span)).body;
  expect(first.items.map((item) => item.task_id)).toEqual(made.slice(1, 3).map((task) => task.task_id));
  const rest = (await list(subject, `${span}&cursor=${first.next_cursor}`)).body;
  expect([rest.items.map((item) => item.task_id), rest.next_cursor]).toEqual([[made[3]?.task_id], '']);
  const shifted = encodeURIComponent('2199-01-01T08:00:00+08:00');
  expect((await list(subject, `?created_after=${shifted}`)).body.items).toEqual([]);
  expect((await list(subject, `?created_before=0000-01-01T00:00:00Z`)).body.items).toEqual([]);
});

test('refuses a cursor of the other order', async () => {
  const subject = randomUUID();
  await tasks.create({ subject });
  await tasks.create({ subject });
  const newest = (await list(subject, '?limit=1')).body.next_cursor;
  const oldest = (await list(subject, '?limit=1&order=oldest')).body.next_cursor;
  const refused = [400, { reason: 'cursor_invalid', field: 'cursor' }];
  for (const query of [`?order=oldest&cursor=${newest}`, `?cursor=${oldest}`]) {
    const { status, body } = await list(subject, query);
    expect([status, body.details]).toEqual(refused);
  }
});

test('a cursor is valid for its subject only and cannot be forged', async () => {
  const subject = randomUUID();
  await tasks.create({ subject });
  await tasks.create({ subject });
  const { next_cursor } = (await list(subject, '?limit=1')).body;
  expect(next_cursor).not.toBe('');
  for (const [who, cursor] of [
    [randomUUID(), next_cursor],
    [subject, 'garbage'],
    [subject, `${next_cursor}x`],
  ] as const) {
    const { status, body } = await list(who, `?cursor=${cursor}`);
    expect([status, body.details]).toEqual([400, { reason: 'cursor_invalid', field: 'cursor' }]);
  }
});

test.each([
  'limit=0',
  'limit=501',
  'limit=abc',
  'limit=1.5',
  'status=draft',
  'kind=audio',
  'order=random',
  'created_after=yesterday',
  'created_after=2026-02-30T00:00:00Z',
  'created_before=2026-03-01',
  'created_after=2026-03-02T00:00:00Z&created_before=2026-03-01T00:00:00Z',
  'created_after=2026-03-01T00:00:00Z&created_before=2026-03-01T08:00:00%2B08:00',
  'more=1',
  'limit=1&limit=2',
])('the query %s is refused', async (query) => {
  expect((await list(randomUUID(), `?${query}`)).status).toBe(400);
});

test('an image call can be queried, cannot be stopped, and disappears when it is rolled back', async () => {
  const subject = randomUUID();
  const id = await imageCall(subject);
  const get = () => tasks.call('GET', `/v1/vision/tasks/${id}`, { subject });
  await until(async () => (await get()).status === 200);
  expect((await get()).body).toMatchObject({ status: 'succeeded', scene_code: 'fire_smoke' });
  const stop = await tasks.call('POST', `/v1/vision/tasks/${id}/stop`, { subject });
  expect([stop.status, stop.body.code]).toEqual([409, 'OP-TASK-NOT-STOPPABLE']);
  await imageCall(subject, { task_id: id, version: 2, status: 'refunded' });
  await until(async () => (await get()).status === 404);
});

test('other services can read owner and thresholds of a task', async () => {
  const subject = randomUUID();
  const { body } = await tasks.create({ subject });
  const path = `/internal/v1/tasks/${body.task_id}`;
  const { body: internal } = await tasks.call('GET', path, { subject, issuer: 'results' });
  expect(internal).toMatchObject({ subject, kind: 'stream', lower_bound: 0.1145, default_min_score: 0.8 });
  expect((await tasks.call('GET', path, { subject: 'somebody else', issuer: 'results' })).status).toBe(404);
  expect((await tasks.call('GET', `/internal/v1/tasks/${randomUUID()}`, { issuer: 'results' })).status).toBe(404);
});

test('another service reads a task, and may neither read nor stop it in the name of a caller', async () => {
  const subject = randomUUID();
  const { body } = await tasks.create({ subject });
  for (const [method, end] of [
    ['GET', ''],
    ['POST', '/stop'],
  ] as const) {
    const path = `/v1/vision/tasks/${body.task_id}${end}`;
    const refused = await tasks.call(method, path, { subject, issuer: 'results' });
    expect([refused.status, refused.body.details]).toEqual([403, { reason: 'call_not_allowed' }]);
  }
});

test('after 90 days a task is hidden at once, and removed with its video and its key', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  const old = await upload({ port: tasks.port, subject, key });
  const running = await tasks.create({ subject });
  expect([old.status, running.status]).toEqual([201, 201]);
  world.backend.end(old.body.task_id, 'succeeded');
  await until(
    async () =>
      (await tasks.call('GET', `/v1/vision/tasks/${old.body.task_id}`, { subject })).body.status === 'succeeded',
  );
  // Such a long run is stopped, and an ended task would be removed too.
  world.backend.onStop = () => 'hang';
  const later = await startTasks(world, { CLOCK_OFFSET: '90 days', RETENTION_BATCH: '1' });
  try {
    expect((await later.call('GET', `/v1/vision/tasks/${old.body.task_id}`, { subject })).status).toBe(404);
    expect((await later.call('GET', '/v1/vision/tasks', { subject })).body['items']).toEqual([]);
    await later.call('POST', '/internal/v1/retention/run');
    await until(async () => (await world.database.db('tasks').where({ task_id: old.body.task_id })).length === 0);
    expect(await world.s3.objects()).not.toContain(await world.videoOf(old.body.task_id));
    expect(await world.database.db('idempotency_keys').where({ subject, key })).toEqual([]);
    expect(await world.database.db('task_moves').where({ task_id: old.body.task_id })).toEqual([]);
  } finally {
    await later.stop();
    world.backend.onStop = () => 'answer';
  }
  expect((await tasks.call('GET', `/v1/vision/tasks/${running.body.task_id}`, { subject })).status).toBe(200);
});

test('`client_ref` is returned with the task and in lists, and filters lists', async () => {
  const subject = randomUUID();
  const body = { scene_code: 'ship', stream_url: world.stream.url };
  const create = (query: string, key = randomUUID()) =>
    tasks.call('POST', `/v1/vision/tasks${query}`, { subject, key, body });
  const key = randomUUID();
  const named = await create('?client_ref=gate-3', key);
  expect(named.status).toBe(201);
  expect(named.body).not.toHaveProperty('client_ref');
  const uploaded = await upload({ port: tasks.port, subject, key: randomUUID(), query: '?client_ref=gate-4' });
  const image = await imageCall(subject, { client_ref: 'gate-3' });
  await create('');
  await until(async () => (await list(subject)).body.items.length === 4);
  expect((await list(subject)).body.items.map((item) => item.client_ref).sort()).toEqual([
    'gate-3',
    'gate-3',
    'gate-4',
    undefined,
  ]);
  expect((await list(subject, '?client_ref=gate-3')).body.items.map((item) => item.task_id)).toEqual([
    image,
    named.body.task_id,
  ]);
  expect((await list(subject, '?client_ref=gate-4&kind=video')).body.items).toMatchObject([
    { task_id: uploaded.body.task_id, client_ref: 'gate-4' },
  ]);
  expect((await list(randomUUID(), '?client_ref=gate-3')).body.items).toEqual([]);
  const told = await world.database
    .db('outbox')
    .where({ key: named.body.task_id })
    .pluck<{ client_ref?: string }[]>('payload');
  expect(told.map((payload) => payload.client_ref)).toEqual(told.map(() => 'gate-3'));
  expect(tasks.log()).not.toContain('gate-3');

  // `client_ref` is part of the request that the key identifies.
  expect((await create('?client_ref=gate-3', key)).status).toBe(200);
  for (const other of ['', '?client_ref=gate-4']) {
    expect((await create(other, key)).body.details).toMatchObject({ reason: 'idempotency_key_reused' });
  }
});

test.each(['', 'a'.repeat(65), 'a%20b', 'a%7Cb', '%00', '%C3%A4', 'a&client_ref=b', 'a%0A'])(
  'a client_ref that has not its form creates nothing and lists nothing: %s',
  async (value) => {
    const subject = randomUUID();
    const refused = { reason: 'query_invalid', field: 'client_ref' };
    const body = { scene_code: 'ship', stream_url: world.stream.url };
    const query = `?client_ref=${value}`;
    const created = await tasks.call('POST', `/v1/vision/tasks${query}`, { subject, key: randomUUID(), body });
    expect([created.status, created.body.details]).toEqual([400, expect.objectContaining(refused)]);
    const uploaded = await upload({ port: tasks.port, subject, key: randomUUID(), query });
    expect([uploaded.status, uploaded.body.details]).toEqual([400, expect.objectContaining(refused)]);
    const listed = await list(subject, query);
    expect([listed.status, listed.body.details]).toEqual([400, expect.objectContaining(refused)]);
  },
);

test('refuses a request without the scope that its operation needs', async () => {
  const ask = async (scopes: KeyScope[], method: string) => {
    const token = await testToken('gateway', 'tasks', { subject: 'scoped', limits: defaultLimits, scopes });
    const headers = { authorization: `Bearer ${token}` };
    const reply = await fetch(`http://127.0.0.1:${tasks.port}/v1/vision/tasks`, { method, headers });
    return [reply.status, ((await reply.json()) as { details?: unknown }).details];
  };
  expect(await ask(['read'], 'POST')).toEqual([403, { reason: 'scope_missing', scope: 'create' }]);
  expect(await ask(['create', 'notify'], 'GET')).toEqual([403, { reason: 'scope_missing', scope: 'read' }]);
  expect((await ask(['read'], 'GET'))[0]).toBe(200);
});
