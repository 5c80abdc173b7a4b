import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { startDying } from './support/dying.ts';
import { callService, createWorld, startTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

const metrics = testMetrics();
let world: World;
let tasks: TestTasks;
let other: TestTasks | undefined;
beforeAll(async () => {
  world = await createWorld({ PLACE_WAIT_MS: '120000' });
  tasks = await startTasks(world);
});
afterEach(async () => {
  setFree(100);
  world.backend.onSubmit = () => 'accept';
  await other?.stop();
  other = undefined;
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
});

/** Sets the free slots for streams, and the total that the backend reports. */
function setFree(count: number, places = 5): void {
  const most = world.backend.jobs.size + count;
  world.backend.capacity = () => ({
    free: { stream: Math.max(0, most - world.backend.jobs.size), object: 100 },
    places: { stream: places, object: 100 },
  });
}
const claims = () => world.database.db('place_claims');
const waitingOf = async (subject: string) => (await claims().where({ subject }).whereNull('granted_at')).length;
/** Waits until earlier grants have expired: the backend counts them. */
const settled = () =>
  until(async () => (await claims().where('expires_at', '>', world.database.db.fn.now())).length === 0);
const limits = { video_tasks_per_day: 100, active_tasks: 100 };
const create = (subject: string, by = tasks, own = limits) => by.create({ subject, limits: own });

test('a create request waits for a slot, reserves no unit meanwhile, and continues with a free slot', async () => {
  setFree(0);
  const subject = randomUUID();
  const created = create(subject);
  await until(async () => (await waitingOf(subject)) === 1);
  expect(await world.quota.used(subject)).toBe(0);
  setFree(1);
  expect((await created).status).toBe(201);
  expect(await world.quota.used(subject)).toBe(1);
});

test('a create request without a slot in time is refused, and leaves no task, no charge and a free key', async () => {
  other = await startTasks(world, { PLACE_WAIT_MS: '300' });
  setFree(0);
  const [subject, key] = [randomUUID(), randomUUID()];
  const submitted = world.backend.submits.length;
  const refused = await other.create({ subject, key });
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-TASK-UPSTREAM-DOWN']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await world.quota.used(subject)).toBe(0);
  expect(world.backend.submits).toHaveLength(submitted);
  expect(await claims().where({ subject }).whereNull('granted_at')).toEqual([]);
  setFree(1);
  expect((await tasks.create({ subject, key })).status).toBe(201);
});

test('create requests that wait for a slot are refused at once when the daily quota is used up', async () => {
  await settled();
  setFree(0);
  const subject = randomUUID();
  const unneeded = async () => (await metrics.sumOf('vision.tasks.place_wait', { outcome: 'unneeded' })) ?? 0;
  const before = await unneeded();
  const created = [1, 2, 3, 4, 5].map(() => create(subject, tasks, { ...limits, video_tasks_per_day: 1 }));
  await until(async () => (await waitingOf(subject)) === 5);
  // One request takes the unit, and quota refuses one.
  setFree(2);
  const statuses = (await Promise.all(created)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([201, 429, 429, 429, 429]);
  // The others did not wait for a slot of their own.
  expect((await unneeded()) - before).toBe(3);
});

test('a started stream takes only one slot: a burst gets all free slots', async () => {
  await settled();
  setFree(4);
  const [first, second] = [randomUUID(), randomUUID()];
  const burst = [1, 2].map(() => create(first));
  expect((await Promise.all(burst)).map(({ status }) => status)).toEqual([201, 201]);
  // The next capacity query, after a second, returns two free slots.
  await until(async () => (await claims().whereRaw(`sent_at < now() - interval '1.1 s'`)).length === 2);
  // Their claims must not free slots by expiring.
  await claims().update({ expires_at: world.database.db.raw(`now() + interval '1 hour'`) });
  const later = [1, 2].map(() => create(second));
  expect((await Promise.all(later)).map(({ status }) => status)).toEqual([201, 201]);
  await claims().delete();
});

test('a create request beyond the queue limit is refused at once', async () => {
  other = await startTasks(world, { PLACE_QUEUE: '1' });
  setFree(0);
  const subject = randomUUID();
  const first = create(subject, other);
  await until(async () => (await waitingOf(subject)) === 1);
  expect((await create(subject, other)).status).toBe(503);
  setFree(1);
  expect((await first).status).toBe(201);
});

test('create requests refused at once start no round for waiting ones', async () => {
  const { db } = world.database;
  await db.raw(`create sequence rounds; create function count_round() returns trigger language plpgsql as $$
    begin perform nextval('rounds'); return null; end $$;
    create trigger count_rounds after insert on place_claims for each statement execute function count_round()`);
  const rounds = async () =>
    Number((await db.raw<{ rows: [{ last: string }] }>('select last_value as last from rounds')).rows[0].last);
  other = await startTasks(world, { PLACE_QUEUE: '1' });
  setFree(0);
  const subject = randomUUID();
  const waits = create(subject, other);
  await until(async () => (await waitingOf(subject)) === 1);
  const [from, begun] = [await rounds(), performance.now()];
  for (let count = 0; count < 30; count += 1) expect((await create(randomUUID(), other)).status).toBe(503);
  // Rounds run every half second.
  expect((await rounds()) - from).toBeLessThanOrEqual((performance.now() - begun) / 500 + 1);
  setFree(1);
  expect((await waits).status).toBe(201);
  await db.raw('drop trigger count_rounds on place_claims');
});

test('the slot of a create request whose process died is free again after seconds', async () => {
  await settled();
  setFree(1);
  // It keeps its unit and its key for much longer.
  const dying = await startDying(world, 'tasks.submit.reserved', { LEASE_MS: '600000' });
  const body = { scene_code: 'ship', stream_url: world.stream.url };
  await callService(Number(dying.port), 'POST', '/v1/vision/tasks', { key: randomUUID(), limits, body }).catch(
    () => undefined,
  );
  expect(await dying.process.ended).toBe('SIGKILL');
  expect((await create(randomUUID())).status).toBe(201);
});

test('a slow create request keeps its slot', async () => {
  await settled();
  other = await startTasks(world, { PLACE_WAIT_MS: '7000', SUBMIT_TIMEOUT_MS: '25000' });
  setFree(1);
  const slow = randomUUID();
  world.backend.onSubmit = () => 'hang';
  const first = create(slow, other);
  await until(async () => (await claims().where({ subject: slow }).whereNotNull('granted_at')).length === 1);
  expect((await create(randomUUID(), other)).status).toBe(503);
  world.backend.onSubmit = () => 'accept';
  expect((await first).status).toBe(202);
});

test('a subject with many tasks and requests does not starve one with few, on any replica', async () => {
  await settled();
  setFree(100);
  const [heavy, light] = [randomUUID(), randomUUID()];
  for (let count = 0; count < 3; count += 1) expect((await create(heavy)).status).toBe(201);
  await settled();
  setFree(0);
  other = await startTasks(world);
  const ofHeavy = [1, 2, 3, 4].map(() => create(heavy));
  await until(async () => (await waitingOf(heavy)) === 4);
  const ofLight = [1, 2].map(() => create(light, other));
  await until(async () => (await waitingOf(light)) === 2);
  // Requests of the light subject came last, to another replica, and get the first two slots.
  setFree(2);
  expect((await Promise.all(ofLight)).map(({ status }) => status)).toEqual([201, 201]);
  expect(await waitingOf(heavy)).toBe(4);
  setFree(100);
  expect((await Promise.all(ofHeavy)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
});

test('subjects share slots in proportion to their limits of active tasks', async () => {
  await settled();
  setFree(0);
  const [large, small] = [randomUUID(), randomUUID()];
  const ofSmall = [1, 2, 3].map(() => tasks.create({ subject: small, limits: { ...limits, active_tasks: 10 } }));
  await until(async () => (await waitingOf(small)) === 3);
  const ofLarge = [1, 2, 3].map(() => tasks.create({ subject: large, limits: { ...limits, active_tasks: 30 } }));
  await until(async () => (await waitingOf(large)) === 3);
  setFree(4);
  await until(async () => (await waitingOf(small)) + (await waitingOf(large)) === 2);
  expect([await waitingOf(small), await waitingOf(large)]).toEqual([2, 0]);
  setFree(100);
  await Promise.all([...ofSmall, ...ofLarge]);
});

test('the last slots are kept for subjects without a slot', async () => {
  await settled();
  setFree(100);
  const [tenant, newcomer] = [randomUUID(), randomUUID()];
  expect((await create(tenant)).status).toBe(201);
  await settled();
  setFree(1, 10);
  const second = create(tenant);
  await until(async () => (await waitingOf(tenant)) === 1);
  expect((await create(newcomer)).status).toBe(201);
  expect(await waitingOf(tenant)).toBe(1);
  setFree(100);
  expect((await second).status).toBe(201);
});

test('a subject without a slot gets a kept one while a larger subject waits in front', async () => {
  await settled();
  setFree(100);
  const [large, small] = [randomUUID(), randomUUID()];
  const ofLarge = () => tasks.create({ subject: large, limits: { ...limits, active_tasks: 100 } });
  for (let count = 0; count < 5; count += 1) expect((await ofLarge()).status).toBe(201);
  await settled();
  // With one more slot the larger subject has the smaller share, 6 of 100, and the only free slot is kept.
  setFree(1, 10);
  const waits = ofLarge();
  await until(async () => (await waitingOf(large)) === 1);
  const created = await tasks.create({ subject: small, limits: { ...limits, active_tasks: 10 } });
  expect(created.status).toBe(201);
  expect(await waitingOf(large)).toBe(1);
  setFree(100);
  expect((await waits).status).toBe(201);
});
