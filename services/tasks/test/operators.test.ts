import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Happening } from '@vision/contracts/history';
import { topics } from '@vision/contracts/topics';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks } from './support/system.ts';
import type { Answer, TestTasks, World } from './support/system.ts';

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

const itemsOf = (answer: Answer) => answer.body['items'] as Record<string, unknown>[];
const idsOf = (answer: Answer) => itemsOf(answer).map((item) => item['task_id']);

test('tasks of all subjects are listed by state, subject and age, page by page, in either order', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const ids: string[] = [];
  for (const subject of [one, one, two]) ids.push((await tasks.create({ subject })).body.task_id);
  await tasks.call('POST', `/v1/vision/tasks/${ids[1] ?? ''}/stop`, { subject: one });
  const list = (query: string) => tasks.asOperator('GET', `/internal/v1/tasks?${query}`);
  expect(idsOf(await list(`subject=${one}`))).toEqual([ids[0], ids[1]]);
  expect(idsOf(await list(`subject=${one}&order=newest`))).toEqual([ids[1], ids[0]]);
  expect(idsOf(await list(`subject=${one}&status=running`))).toEqual([ids[0]]);
  expect(idsOf(await list(`subject=${one}&kind=upload`))).toEqual([]);
  expect(idsOf(await list(`subject=${one}&older_than_s=3600`))).toEqual([]);
  expect(idsOf(await list(`subject=${two}&younger_than_s=3600`))).toEqual([ids[2]]);
  const first = await list(`subject=${one}&limit=1`);
  expect([idsOf(first), first.body['next_cursor']]).toEqual([[ids[0]], ids[0]]);
  const rest = await list(`subject=${one}&limit=1&after=${String(first.body['next_cursor'])}`);
  expect([idsOf(rest), rest.body['next_cursor']]).toEqual([[ids[1]], '']);
});

test('an operator stops the task of a subject; the move names the operator, and a second stop is refused', async () => {
  const { task_id: id } = (await tasks.create({ subject: randomUUID() })).body;
  const stopped = await tasks.asOperator('POST', `/internal/v1/tasks/${id}/stop`, { who: 'zoe@ops' });
  expect([stopped.status, stopped.body.status]).toEqual([200, 'stopped']);
  const again = await tasks.asOperator('POST', `/internal/v1/tasks/${id}/stop`, { who: 'zoe@ops' });
  expect([again.status, again.body.code]).toEqual([409, 'OP-TASK-NOT-STOPPABLE']);
  const moves = world.database.db('task_moves').where({ task_id: id, move: 'stop' }).select('actor', 'note');
  expect(await moves).toEqual([{ actor: 'operator', note: 'zoe@ops' }]);
  expect((await tasks.asOperator('POST', `/internal/v1/tasks/${randomUUID()}/stop`, { who: 'zoe' })).status).toBe(404);
});

test('only the gateway may list, show or stop tasks of others', async () => {
  const { task_id: id } = (await tasks.create({ subject: randomUUID() })).body;
  for (const [method, path] of [
    ['GET', '/internal/v1/tasks'],
    ['GET', '/internal/v1/jobs'],
    ['GET', `/internal/v1/tasks/${id}/history`],
    ['POST', `/internal/v1/tasks/${id}/stop`],
    ['GET', '/internal/v1/dead-letters/tasks'],
    ['POST', '/internal/v1/dead-letters/tasks/replay'],
  ] as const) {
    expect([path, (await tasks.call(method, path, { issuer: 'results' })).status]).toEqual([path, 403]);
  }
});

test('the history of a task has its row, its job, its moves and its published events', async () => {
  const { task_id: id } = (await tasks.create({ subject: 'historic' })).body;
  const happenings = async () =>
    (await tasks.asOperator('GET', `/internal/v1/tasks/${id}/history`)).body['happenings'] as Happening[];
  const published = (all: Happening[]) => all.filter(({ what }) => what.endsWith('was published'));
  await until(async () => published(await happenings()).length === 2);
  const { body } = await tasks.asOperator('GET', `/internal/v1/tasks/${id}/history`);
  expect(body['facts']).toMatchObject({
    subject: 'historic',
    status: 'running',
    reservation_id: `${id}/1`,
    job_at_backend: { job_id: id, status: 'running' },
  });
  const all = await happenings();
  expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted());
  expect(all.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['the create arrived', 'submit: admitted → submitting', 'accept: submitting → running']),
  );
  expect(published(all).map(({ details }) => details['status'])).toEqual(['submitting', 'running']);
  expect((await tasks.asOperator('GET', `/internal/v1/tasks/${randomUUID()}/history`)).status).toBe(404);
});

test('lists unfinished tasks with their jobs; a missing job is omitted', async () => {
  const subject = randomUUID();
  const [kept, lost] = [(await tasks.create({ subject })).body.task_id, (await tasks.create({ subject })).body.task_id];
  world.backend.jobs.delete(lost);
  const items = itemsOf(await tasks.asOperator('GET', `/internal/v1/jobs?subject=${subject}`));
  expect(items.map(({ task_id: id, status, job }) => [id, status, job])).toEqual([
    [kept, 'running', expect.objectContaining({ job_id: kept, status: 'running' })],
    [lost, 'running', undefined],
  ]);
});

interface Status {
  dependencies: { name: string; ms: number; fault?: string }[];
  breakers: { name: string; state: string }[];
  outbox: { waiting: number; publishes: boolean };
  lag: { group: string; topic: string; partition: number; lag: number }[];
}

test('the status shows dependencies, breakers, waiting work and the position of the consumer', async () => {
  const read = async () => (await tasks.asOperator('GET', '/internal/v1/status')).body as unknown as Status;
  await until(async () => {
    const { dependencies, outbox } = await read();
    return outbox.publishes && outbox.waiting === 0 && dependencies.every(({ fault }) => fault === undefined);
  });
  const { dependencies, breakers, lag } = await read();
  expect(dependencies.map(({ name }) => name)).toEqual(['database', 'kafka', 'object_store', 'quota', 'inference']);
  expect(breakers).toContainEqual({ name: 'inference.submit', state: 'closed' });
  expect(lag).toHaveLength(4);
  expect(lag).toContainEqual({ group: 'tasks', topic: 'vision.results.v1', partition: 0, lag: 0 });
});

test('reports unavailable or missing dependencies with the reason', async () => {
  const other = await startTasks(world, {
    QUOTA_URL: 'http://127.0.0.1:1',
    S3_BUCKET: 'none-of-this-name',
    TOPIC_PREFIX: 'none.',
  });
  const { body } = await other.call('GET', '/internal/v1/status', { subject: 'operator' });
  await other.stop();
  const faults = Object.fromEntries((body as unknown as Status).dependencies.map(({ name, fault }) => [name, fault]));
  expect(faults['quota']).toMatch(/^quota_unavailable: .*ECONNREFUSED/);
  expect(faults['object_store']).toMatch(/there is no bucket none-of-this-name|object_store_unavailable/);
  expect(faults['kafka']).toMatch(/^there is no topic none\.vision\.tasks\.v1, /);
  expect(faults['database']).toBeUndefined();
});

test('a backend without a status of its own is listed with its address only', async () => {
  const { body } = await tasks.asOperator('GET', '/internal/v1/backend-status');
  expect(body['items']).toEqual([{ service: 'inference', address: '127.0.0.1' }]);
});

test('events that are published again change neither tasks nor the ledger', async () => {
  const subject = randomUUID();
  const { task_id: id } = (await tasks.create({ subject })).body;
  await tasks.call('POST', `/v1/vision/tasks/${id}/stop`, { subject });
  const handled = async () => {
    const rows = await world.quota.database.db('consumer_positions').select<{ next_offset: number }[]>('next_offset');
    return rows.reduce((sum, { next_offset: next }) => sum + next, 0);
  };
  const unpublished = async () => (await world.database.db('outbox').whereNull('published_at')).length;
  await until(async () => (await unpublished()) === 0);
  const events = await world.database.db('outbox').select('event_id');
  await until(async () => (await handled()) >= events.length);
  const state = async () => ({
    // Tasks of other tests may still be in progress.
    tasks: await world.database.db('tasks').where({ subject }).select('task_id', 'status', 'version'),
    reservations: await world.quota.reservations(subject),
    used: await world.quota.used(subject),
  });
  const [before, handledBefore] = [await state(), await handled()];
  const body = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', dry_run: false };
  const answer = await tasks.asOperator('POST', '/internal/v1/outbox/republish', body);
  expect(answer.status).toBe(200);
  expect(answer.body['events']).toBeGreaterThanOrEqual(events.length);
  await until(async () => (await handled()) >= handledBefore + events.length);
  expect(await state()).toEqual(before);
});

test('a dead letter is listed, shown without secrets, and published again once', async () => {
  const event = { task_id: randomUUID(), stream_url: 'rtsp://user:geheim@cam.example/live', token: 'geheim' };
  const why = { dlq_reason: 'invalid_data', dlq_detail: 'version is missing', dlq_group: 'quota', dlq_offset: '7' };
  // Its type has no handler, so the replay does not return it here.
  const headers = {
    ...why,
    ce_id: 'event-1',
    ce_type: 'vision.task.unheard.v1',
    ce_source: 'tasks',
    authorization: 'Bearer geheim',
  };
  const producer = world.kafka.client.kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const topic = world.kafka.client.nameOf(`${topics.tasks}.dlq`);
  await producer.send({ topic, messages: [{ key: event.task_id, value: JSON.stringify(event), headers }] });
  await producer.disconnect();
  const path = '/internal/v1/dead-letters/tasks';
  const [listed] = itemsOf(await tasks.asOperator('GET', path));
  expect(listed).toMatchObject({ topic: 'tasks', event_id: 'event-1', group: 'quota', reason: 'invalid_data' });
  const shown = await tasks.asOperator('GET', `${path}/records/${String(listed?.['offset'])}`);
  expect(shown.body).toMatchObject({ from_offset: 7, is_cut: false, headers: { ce_id: 'event-1' } });
  expect(JSON.parse(String(shown.body['payload']))).toEqual({
    task_id: event.task_id,
    stream_url: 'rtsp://cam.example/***',
    token: '***',
  });
  expect(JSON.stringify(shown.body)).not.toContain('geheim');
  expect((await tasks.asOperator('GET', `${path}/records/event-1`)).body).toEqual(shown.body);
  expect((await tasks.asOperator('GET', `${path}/records/nothing`)).status).toBe(404);
  expect((await tasks.asOperator('GET', '/internal/v1/dead-letters/frames')).status).toBe(404);
  expect((await tasks.asOperator('POST', `${path}/replay`, {})).body).toEqual({ replayed: 1, is_done: true });
  expect((await tasks.asOperator('POST', `${path}/replay`, {})).body).toEqual({ replayed: 0, is_done: true });
});
