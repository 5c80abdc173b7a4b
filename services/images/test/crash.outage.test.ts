import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { startChild } from './support/child.ts';
import { detected } from './support/fake-inference.ts';
import type { Fault } from './support/fake-quota.ts';
import { files, picture } from './support/form.ts';
import { spooled } from './support/raw-client.ts';
import { createWorld, startReplica } from './support/start-images.ts';
import type { Detections, RunningImages, World } from './support/start-images.ts';

/** Fate of a call that dies at a step: `rolled back` starts anew under its key, `kept` is replayed. */
const creating: Record<string, 'rolled back' | 'kept'> = {
  'images.key_claimed': 'rolled back',
  'images.units_reserved': 'rolled back',
  'images.picture_stored': 'rolled back',
  'images.images_processed': 'rolled back',
  'images.result_stored': 'kept',
  'images.units_settled': 'kept',
};
const undoing = ['images.rollback_begun', 'images.effects_rolled_back', 'images.key_released'];
const deleting = ['images.call_hidden', 'images.deleted_pictures_removed'];
const expiring = ['images.expired_pictures_removed', 'images.expired_calls_removed'];

const metrics = testMetrics();
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());
afterEach(async () => {
  for (const replica of replicas.splice(0)) await replica.stop();
  world.quota.fault = () => 'none';
  world.inference.answer = () => detected();
});

/**
 * The claims of the doomed process expire at once, and it must not recover its own call; claims of its successor must
 * last on a busy machine.
 */
const doomedEnv = { LEASE_MS: '400', RECOVERY_INTERVAL_MS: '3600000' };
const nextEnv = { LEASE_MS: '20000', RECOVERY_INTERVAL_MS: '100' };
const replicas: RunningImages[] = [];
const startNext = async (over: Record<string, string> = {}) => {
  const replica = await startReplica(world, { ...nextEnv, ...over });
  replicas.push(replica);
  return replica;
};
const parts = () => files(picture('good'), picture('bad'), picture('fine'));
const oneBad = () => {
  world.inference.answer = (name) => (name === 'bad' ? { status: 422, body: { reason: 'no' } } : detected());
};

test('every crash point of the sources has a case here', async () => {
  const folder = join(import.meta.dirname, '../src');
  const found: string[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.ts')) continue;
    const text = await readFile(join(folder, name), 'utf8');
    found.push(...[...text.matchAll(/crashPoint\('([^']+)'\)/g)].map((match) => match[1] ?? ''));
  }
  expect(found.sort()).toEqual([...Object.keys(creating), ...undoing, ...deleting, ...expiring].sort());
});

test.each(Object.entries(creating))(
  'a process killed at %s: the call is %s and the same key gives one result',
  async (CRASH_AT, fate) => {
    oneBad();
    const key = randomUUID();
    const doomed = await startChild({ ...world.env, ...doomedEnv, CRASH_AT });
    await expect(doomed.post(parts(), { key })).rejects.toThrow();
    expect(await doomed.ended).toBe('SIGKILL');
    expect(await spooled(world.spoolDir)).toEqual([]);

    const next = await startNext();
    const before = new Set(world.quota.reservations.keys());
    const { status, body } = await next.detect(parts(), { key });
    expect(status).toBe(fate === 'kept' ? 200 : 201);
    expect(body.results.map((entry) => entry.error_code ?? entry.status)).toEqual([
      'succeeded',
      'OP-TASK-REQUEST-INVALID',
      'succeeded',
    ]);
    if (fate === 'kept') expect(before.has(`${body.task_id}/1`)).toBe(true);
    await expectWhole(body, { settledByEvent: CRASH_AT === 'images.result_stored' });
  },
);

test.each(undoing)('a process killed at %s during a rollback: another process completes it', async (CRASH_AT) => {
  const key = randomUUID();
  const doomed = await startChild({ ...world.env, ...doomedEnv, CRASH_AT, S3_ENDPOINT: 'http://127.0.0.1:9' });
  await expect(doomed.post(parts(), { key })).rejects.toThrow();
  expect(await doomed.ended).toBe('SIGKILL');
  const next = await startNext();
  await until(async () => (await world.database.db('idempotency_keys').where({ key })).length === 0);
  const { status, body } = await next.detect(parts(), { key });
  expect(status).toBe(201);
  await expectWhole(body, { settledByEvent: false });
});

test.each(expiring)('a process killed at %s: the next run removes the rest', async (CRASH_AT) => {
  const writer = await startNext();
  const { body } = await writer.detect(parts());
  await writer.stop();
  replicas.length = 0;
  // The first retention run comes at the start.
  const doomed = await startChild({ ...world.env, ...doomedEnv, CLOCK_OFFSET: '91 days', CRASH_AT });
  expect(await doomed.ended).toBe('SIGKILL');
  await startNext({ CLOCK_OFFSET: '91 days' });
  await until(async () => (await world.database.db('image_calls')).length === 0);
  expect((await world.s3.objects()).filter((name) => name.includes(body.task_id))).toEqual([]);
  expect(await world.database.db('idempotency_keys')).toEqual([]);
});

test.each(deleting)(
  'a process killed at %s while it deletes a call: the next request removes the remaining data',
  async (CRASH_AT) => {
    const writer = await startNext();
    const key = randomUUID();
    const { body } = await writer.detect(parts(), { key });
    const doomed = await startChild({ ...world.env, ...doomedEnv, CRASH_AT });
    const path = '/internal/v1/deleted-image-calls';
    await expect(writer.askAt(doomed.url, path, { task_ids: [body.task_id] })).rejects.toThrow();
    expect(await doomed.ended).toBe('SIGKILL');
    expect((await writer.get(`/internal/v1/image-calls/${body.task_id}`)).status).toBe(404);
    expect((await writer.detect(parts(), { key })).status).toBe(404);
    expect((await writer.askAt(writer.url, path, { task_ids: [body.task_id] })).status).toBe(200);
    expect((await world.s3.objects()).filter((name) => name.includes(body.task_id))).toEqual([]);
    expect(await world.database.db('image_calls').where({ task_id: body.task_id })).toEqual([]);
    await world.database.db('idempotency_keys').where({ key }).delete();
  },
);

test('rolls back a dead call whose lease was set by a fast clock, once the clock is right', async () => {
  const key = randomUUID();
  const doomed = await startChild({ ...world.env, ...doomedEnv, CRASH_AT: 'images.units_reserved' });
  await expect(doomed.post(parts(), { key })).rejects.toThrow();
  await doomed.ended;
  const { db } = world.database;
  await db.raw(`update idempotency_keys set lease_until = lease_until + interval '1 hour'`);
  await db.raw(`update lease_watch set seen_at = seen_at + interval '1 hour'`);
  await startNext({ LEASE_MS: '1000' });
  await until(async () => (await db('idempotency_keys').where({ key })).length === 0);
});

/** One record with exactly its images; only its successful images are charged. */
async function expectWhole(body: Detections, { settledByEvent }: { settledByEvent: boolean }): Promise<void> {
  const { database, s3, quota } = world;
  const succeeded = body.results.filter((entry) => entry.status === 'succeeded').length;
  const finished = await database.db('image_calls').select<{ task_id: string }[]>('task_id');
  const tasks = new Set(finished.map((row) => row.task_id));
  expect(tasks.has(body.task_id)).toBe(true);
  await until(async () => (await s3.objects()).every((name) => tasks.has(name.split('/').at(-2) ?? '')));
  expect((await s3.objects()).filter((name) => name.includes(body.task_id))).toHaveLength(body.results.length);
  const own = quota.reservations.get(`${body.task_id}/1`);
  expect(own?.charged).toBe(settledByEvent ? body.results.length : succeeded);
  for (const [id, { charged }] of quota.reservations) {
    if (!tasks.has(id.split('/')[0] ?? '')) expect(charged).toBe(0);
  }
  const payloads = await database
    .db('outbox')
    .select<{ payload: { task_id: string; images_succeeded: number } }[]>('payload');
  const told = payloads.filter(({ payload }) => payload.task_id === body.task_id);
  expect(told.map(({ payload }) => payload.images_succeeded)).toEqual([succeeded]);
}

test('rolls back dead calls concurrently: a slow refund delays no other call', async () => {
  const before = new Set(world.quota.reservations.keys());
  for (let call = 0; call < 2; call += 1) {
    const doomed = await startChild({ ...world.env, ...doomedEnv, CRASH_AT: 'images.units_reserved' });
    await expect(doomed.post(parts(), { key: randomUUID() })).rejects.toThrow();
    expect(await doomed.ended).toBe('SIGKILL');
  }
  const dead = [...world.quota.reservations.keys()].filter((id) => !before.has(id));
  const open = () => dead.filter((id) => world.quota.reservations.get(id)?.open).length;
  expect(open()).toBe(2);
  const givenUp = async () => (await metrics.sumOf('vision.images.courtesy.failures', { call: 'refund' })) ?? 0;
  const givenUpBefore = await givenUp();
  const asked = new Set<string>();
  world.quota.fault = async (what, id): Promise<Fault> => {
    if (what === 'refund' && dead.includes(id)) {
      asked.add(id);
      await until(() => asked.size === 2);
    }
    return 'none';
  };
  // Both calls must be found in one round of the recovery, so both leases must have expired.
  const { db } = world.database;
  const held = db('idempotency_keys').whereIn('reservation_id', dead);
  await until(async () => (await held.clone().where('lease_until', '<=', db.fn.now())).length === 2);
  await startNext();
  await until(() => open() === 0);
  // The first refund did not time out before the second was requested.
  expect(await givenUp()).toBe(givenUpBefore);
});
