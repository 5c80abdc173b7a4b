import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

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
afterEach(() => {
  world.backend.onSubmit = () => 'accept';
});

const statusOf = async (id: string, subject: string) =>
  (await tasks.call('GET', `/v1/vision/tasks/${id}`, { subject })).body.status;

test('a live stream becomes a running task, charged once, with exactly the fields of the contract', async () => {
  const subject = randomUUID();
  const key = randomUUID().toUpperCase();
  const created = await tasks.create({ subject, key });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    task_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    request_id: key,
    scene_code: 'person_vehicle',
    status: 'running',
    result_expires_at: expect.any(String),
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  const { created_at, result_expires_at } = created.body as unknown as Record<string, string>;
  expect(Date.parse(result_expires_at ?? '') - Date.parse(created_at ?? '')).toBe(90 * 86_400_000);
  expect((await tasks.call('GET', `/v1/vision/tasks/${created.body.task_id}`, { subject })).body).toMatchObject({
    status: 'running',
  });
  expect(await world.quota.used(subject)).toBe(1);
  expect(world.backend.jobs.get(created.body.task_id)?.request.source).toEqual({
    kind: 'stream',
    url: world.stream.url,
    pinned_address: '127.0.0.1',
  });
});

test('a replay returns the same task, is marked as such, and is not charged; a different request is refused', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  const first = await tasks.create({ subject, key });
  const again = await tasks.create({ subject, key: key.toUpperCase() });
  expect([again.status, again.body.task_id]).toEqual([200, first.body.task_id]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const other = await tasks.create({ subject, key, scene: 'ship' });
  expect([other.status, other.body.details?.['reason']]).toEqual([400, 'idempotency_key_reused']);
  expect(await world.quota.used(subject)).toBe(1);
  const foreign = await tasks.create({ subject: randomUUID(), key });
  expect(foreign.status).toBe(201);
});

test.each([
  [{ scene_code: 'ship' }, 'stream_url_invalid'],
  [{ scene_code: 'ship', stream_url: '' }, 'stream_url_invalid'],
  [{ scene_code: 'ship', stream_url: 7 }, 'stream_url_invalid'],
  [{ scene_code: 'no_such', stream_url: 'ftp://x/' }, 'stream_url_invalid'],
  [{ scene_code: 'ship', stream_url: 'ftp://x/', more: 1 }, 'stream_url_invalid'],
  [{ stream_url: 'rtsp://10.0.0.1/' }, 'stream_url_invalid'],
  [{ stream_url: 'rtsp://127.0.0.1:1/' }, 'scene_code_invalid'],
  [{ scene_code: 'ship', stream_url: 'rtsp://127.0.0.1:1/', more: 1 }, 'unknown_field'],
  [{ scene_code: 'no_such', stream_url: 'rtsp://127.0.0.1:1/' }, 'scene_unavailable'],
  [{ scene_code: 'helmet', stream_url: 'rtsp://127.0.0.1:1/' }, 'scene_unavailable'],
  [[], 'body_invalid'],
])('%j is refused with %s, is not charged and leaves the key free', async (body, reason) => {
  await refusesFor(tasks, body, reason);
});

test.each(['rtsp://127.0.0.1:1/', 'rtsp://no-such-host.invalid/'])(
  '%s is refused as unreachable, charges nothing and leaves the key free',
  async (url) => {
    const hasty = await startTasks(world, { PROBE_CONNECT_MS: '500', PROBE_TOTAL_MS: '1000' });
    await refusesFor(hasty, { scene_code: 'ship', stream_url: url }, 'stream_unreachable');
    await hasty.stop();
  },
);

async function refusesFor(by: TestTasks, body: unknown, reason: string): Promise<void> {
  const subject = randomUUID();
  const key = randomUUID();
  const refused = await by.call('POST', '/v1/vision/tasks', { subject, key, body });
  expect([refused.status, refused.body.details?.['reason']]).toEqual([400, reason]);
  expect(await world.quota.used(subject)).toBe(0);
  // The answer waits for the removal of the row, but not for long.
  await until(async () => (await world.database.db('tasks').where({ subject })).length === 0);
  expect((await tasks.create({ subject, key })).status).toBe(201);
}

test('a stop ends the task; an ended task refuses another stop', async () => {
  const subject = randomUUID();
  const { body } = await tasks.create({ subject });
  const stopped = await tasks.call('POST', `/v1/vision/tasks/${body.task_id}/stop`, { subject });
  expect([stopped.status, stopped.body.status]).toEqual([200, 'stopped']);
  const again = await tasks.call('POST', `/v1/vision/tasks/${body.task_id}/stop`, { subject });
  expect([again.status, again.body.code]).toEqual([409, 'OP-TASK-NOT-STOPPABLE']);
  expect(await world.quota.used(subject)).toBe(1);
});

test('foreign, unknown and malformed ids are all 404', async () => {
  const { body } = await tasks.create({ subject: randomUUID() });
  const strip = ({
    status,
    body: { instance: _i, trace_id: _t, ...rest },
  }: Awaited<ReturnType<TestTasks['call']>>) => ({ status, rest });
  const answers = await Promise.all(
    [body.task_id, randomUUID()].flatMap((id) => [
      tasks.call('GET', `/v1/vision/tasks/${id}`, { subject: 'other' }),
      tasks.call('POST', `/v1/vision/tasks/${id}/stop`, { subject: 'other' }),
    ]),
  );
  for (const answer of answers) expect(strip(answer)).toEqual(strip(answers[0] as never));
  expect((await tasks.call('GET', '/v1/vision/tasks/not-a-uuid')).status).toBe(404);
});

test('a refusal of the backend gives a refunded task and refunds the unit', async () => {
  world.backend.onSubmit = () => 'refuse';
  const subject = randomUUID();
  const created = await tasks.create({ subject });
  expect([created.status, created.body.status]).toEqual([201, 'refunded']);
  expect(await world.quota.used(subject)).toBe(0);
});

test('the key of a refunded task keeps naming that task: no image call gets it', async () => {
  world.backend.onSubmit = () => 'refuse';
  const [subject, key] = [randomUUID(), randomUUID()];
  const refunded = await tasks.create({ subject, key });
  expect(refunded.body.status).toBe('refunded');
  expect(await world.quota.reserveImages(subject, key)).toBe('conflict');
  expect((await tasks.create({ subject, key })).body).toMatchObject({ task_id: refunded.body.task_id });
  const events = await world.database
    .db('outbox')
    .where({ key: refunded.body.task_id })
    .orderBy('id')
    .select('payload');
  expect(events.map(({ payload }) => payload as object)).toEqual([
    expect.objectContaining({ status: 'submitting', keeps_key: true }),
    expect.objectContaining({ status: 'refunded', keeps_key: true }),
  ]);
});

test('a backend without a free slot leaves no task, no charge and a free key', async () => {
  world.backend.onSubmit = () => 'no_capacity';
  const subject = randomUUID();
  const key = randomUUID();
  const refused = await tasks.create({ subject, key });
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-TASK-UPSTREAM-DOWN']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await world.quota.used(subject)).toBe(0);
  const events = await world.database.db('outbox').whereRaw(`payload::jsonb->>'subject' = ?`, [subject]).orderBy('id');
  expect((events.at(-1) as { payload: object }).payload).toMatchObject({ status: 'refunded', keeps_key: false });
  world.backend.onSubmit = () => 'accept';
  expect((await tasks.create({ subject, key })).status).toBe(201);
  expect(await world.quota.used(subject)).toBe(1);
});

test.each(['accept_and_drop_reply', 'accept_and_say_500', 'accept_and_say_garbage', 'accept_late'] as const)(
  '%s: the create answers 202, and the evidence of the backend makes the task running',
  async (mode) => {
    world.backend.onSubmit = () => mode;
    const subject = randomUUID();
    const created = await tasks.create({ subject });
    expect([created.status, created.body.status]).toEqual([202, 'resolving']);
    await until(async () => (await statusOf(created.body.task_id, subject)) === 'running');
    expect(await world.quota.used(subject)).toBe(1);
    expect(world.backend.submits.filter((submit) => submit.jobId === created.body.task_id)).toHaveLength(1);
  },
);

test('maintenance refuses new tasks and allows replays', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  await tasks.create({ subject, key });
  const maintenance = { reason: 'upgrade' };
  const refused = await tasks.create({ subject, maintenance });
  expect([refused.status, refused.body.code, refused.body.details?.['reason']]).toEqual([
    503,
    'OP-TASK-BREAKER-OPEN',
    'maintenance',
  ]);
  expect((await tasks.create({ subject, key, maintenance })).status).toBe(200);
});
