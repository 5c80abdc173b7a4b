import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { imageCallFinished } from '@vision/contracts/image-events';
import type { ImageCallSnapshot } from '@vision/contracts/image-events';
import { taskChanged } from '@vision/contracts/task-events';
import type { TaskSnapshot } from '@vision/contracts/task-events';
import { topics } from '@vision/contracts/topics';
import { createConsumer } from '@vision/kafka/consumer';
import { listDlq } from '@vision/kafka/dlq';
import { rememberTables } from '@vision/shared/testing/lost-commits';
import { until } from '@vision/shared/testing/until';
import { subscriptions } from '../src/consumers/subscriptions.ts';
import { closeReservation, reserveUnits } from '../src/db/ledger.ts';
import type { Reservation } from '../src/domain/reservation.ts';
import { compareCounters } from '../src/db/verification.ts';
import { createSignals } from '../src/signals.ts';
import { logger, startQuota } from './support.ts';
import type { TestQuota } from './support.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

let quota: TestQuota;
beforeAll(async () => {
  quota = await startQuota();
  await quota.service.consumer.joined;
});
afterAll(async () => {
  const { differences } = await compareCounters(quota.database.db, 10);
  await quota.stop();
  expect(differences).toEqual([]);
});

const now = new Date().toISOString();
const dates = { created_at: now, updated_at: now, result_expires_at: now };
const task = (one: Reservation, facts: Partial<TaskSnapshot>): TaskSnapshot => ({
  task_id: one.id.slice(0, 36),
  version: 1,
  subject: one.subject,
  kind: 'stream',
  request_id: one.idempotencyKey,
  scene_code: 'ship',
  status: 'submitting',
  lower_bound: 0.3,
  default_min_score: 0.8,
  attempt: 1,
  reservation_id: one.id,
  ...dates,
  ...facts,
});
const imageCall = (one: Reservation, facts: Partial<ImageCallSnapshot>): ImageCallSnapshot => ({
  task_id: one.id.slice(0, 36),
  version: 1,
  subject: one.subject,
  request_id: one.idempotencyKey,
  scene_code: 'ship',
  status: 'succeeded',
  reservation_id: one.id,
  images_total: one.units,
  images_succeeded: one.units,
  ...dates,
  ...facts,
});

const settled = (id: string) => untilSettled(quota.service.consumer, id);

/** Publishes events and waits until the service has processed every one of them. */
async function deliver(...events: ({ task: TaskSnapshot } | { call: ImageCallSnapshot })[]) {
  const outgoing = events.map((event) => {
    const definition = 'task' in event ? taskChanged : imageCallFinished;
    const data = 'task' in event ? event.task : event.call;
    return { ...definition, key: data.task_id, source: 'test', data, id: randomUUID() };
  });
  await quota.producer.publish(outgoing);
  return Promise.all(outgoing.map(({ id }) => settled(id)));
}

async function reserved(facts: Partial<Reservation> = {}): Promise<Reservation> {
  const one = newReservation(facts);
  await reserveUnits(quota.database.db, one);
  return one;
}
const newReservation = (facts: Partial<Reservation> = {}): Reservation => ({
  id: `${randomUUID()}/1`,
  subject: randomUUID(),
  idempotencyKey: randomUUID(),
  kind: 'video',
  units: 1,
  limit: 100,
  ...facts,
});
const stateOf = (one: Reservation): Promise<{ state: string; charged: number }> =>
  quota.database.db('reservations').where({ id: one.id }).first('state', 'charged');

test('a refunded task refunds its unit once, with any number and order of its events', async () => {
  const one = await reserved();
  const told = [
    { task: task(one, { version: 3, status: 'refunded' }) },
    { task: task(one, { version: 1, status: 'submitting' }) },
    { task: task(one, { version: 2, status: 'resolving' }) },
    { task: task(one, { version: 3, status: 'refunded' }) },
  ];
  expect(await deliver(...told)).toEqual(['handled', 'handled', 'handled', 'handled']);
  expect(await stateOf(one)).toEqual({ state: 'refunded', charged: 0 });
  const used: unknown = await quota.database.db('quota_days').where({ subject: one.subject }).first('used');
  expect(used).toEqual({ used: 0 });
});

test('a task that was shown and refunded keeps its key, a create request that was rolled back leaves it free', async () => {
  const [shown, undone, fromBefore] = [await reserved(), await reserved(), await reserved()];
  await deliver(
    { task: task(shown, { version: 2, status: 'refunded', keeps_key: true }) },
    { task: task(undone, { version: 2, status: 'refunded', keeps_key: false }) },
    { task: task(fromBefore, { version: 2, status: 'refunded' }) },
  );
  const asImage = ({ subject, idempotencyKey }: Reservation) =>
    reserveUnits(quota.database.db, newReservation({ subject, idempotencyKey, kind: 'image' }));
  expect(await asImage(shown)).toMatchObject({ outcome: 'conflict' });
  expect(await asImage(undone)).toMatchObject({ outcome: 'granted' });
  expect(await asImage(fromBefore)).toMatchObject({ outcome: 'granted' });
  expect((await stateOf(shown)).charged).toBe(0);
});

test('resolving keeps the unit; an end keeps it for good', async () => {
  const one = await reserved();
  await deliver({ task: task(one, { version: 2, status: 'resolving' }) });
  expect(await stateOf(one)).toEqual({ state: 'open', charged: 1 });
  await deliver({ task: task(one, { version: 5, status: 'failed' }) });
  expect(await stateOf(one)).toEqual({ state: 'settled', charged: 1 });
});

test('an image call charges the images that succeeded; a call that was rolled back nothing', async () => {
  const kept = await reserved({ kind: 'image', units: 10 });
  const undone = await reserved({ kind: 'image', units: 10 });
  await deliver(
    { call: imageCall(kept, { images_succeeded: 7 }) },
    { call: imageCall(undone, { status: 'refunded' }) },
  );
  expect(await stateOf(kept)).toEqual({ state: 'settled', charged: 7 });
  expect(await stateOf(undone)).toEqual({ state: 'refunded', charged: 0 });
});

test('an event after the settlement over HTTP changes nothing', async () => {
  const one = await reserved({ kind: 'image', units: 10 });
  await closeReservation(quota.database.db, one, { state: 'settled', units: 4 });
  await deliver({ call: imageCall(one, { images_succeeded: 4 }) }, { call: imageCall(one, { images_succeeded: 4 }) });
  expect(await stateOf(one)).toEqual({ state: 'settled', charged: 4 });
});

test('a refund event that overtakes its reserve leaves nothing charged', async () => {
  const one = newReservation();
  await deliver({ task: task(one, { version: 2, status: 'refunded' }) });
  expect(await reserveUnits(quota.database.db, one)).toMatchObject({ outcome: 'closed' });
  expect(await quota.database.db('quota_days').where({ subject: one.subject })).toEqual([]);
});

test('an event that cannot be applied goes to the dead letters and the next one is handled', async () => {
  const one = await reserved({ kind: 'image', units: 2 });
  const outcomes = await deliver(
    { call: imageCall(one, { images_succeeded: 3 }) },
    { call: imageCall(one, { images_succeeded: 2 }) },
  );
  expect(outcomes).toEqual(['dead-lettered', 'handled']);
  expect(await stateOf(one)).toEqual({ state: 'settled', charged: 2 });
  const letters = await listDlq(quota.kafka.client, topics.images);
  expect(letters).toMatchObject([{ reason: 'handler_failed', key: one.id.slice(0, 36) }]);
});

test('fields and versions of an event that this service does not know are ignored', async () => {
  const one = await reserved();
  const refunded = { ...task(one, { version: 2, status: 'refunded' }), of_a_later_version: { a: 1 } };
  const messages = [
    { id: randomUUID(), type: 'vision.task.changed.v2', data: { ...refunded, status: 'paused' } },
    { id: randomUUID(), type: taskChanged.type, data: refunded },
  ];
  await quota.producer.publishRaw(
    messages.map(({ id, type, data }) => ({
      topic: topics.tasks,
      key: data.task_id,
      value: JSON.stringify(data),
      headers: { ce_id: id, ce_type: type, ce_source: 'test', ce_specversion: '1.0' },
    })),
  );
  expect(await Promise.all(messages.map(({ id }) => settled(id)))).toEqual(['skipped', 'handled']);
  expect(await stateOf(one)).toEqual({ state: 'refunded', charged: 0 });
});

test('refunds and settlements that the database lost with its last commits are applied again, once', async () => {
  const [before, lost, settledOne] = [await reserved(), await reserved(), await reserved()];
  await deliver({ task: task(before, { version: 2, status: 'refunded' }) });
  const { db } = quota.database;
  const failOver = await rememberTables(db, ['reservations', 'quota_days', 'consumer_positions']);
  await deliver(
    { task: task(lost, { version: 2, status: 'refunded' }) },
    { task: task(settledOne, { version: 2, status: 'succeeded' }) },
  );
  await failOver();
  expect(await stateOf(lost)).toMatchObject({ state: 'open' });
  // The same partitions get a record each, by which the consumer notices that its database is behind.
  await deliver(
    { task: task(lost, { version: 1, status: 'running' }) },
    { task: task(settledOne, { version: 1, status: 'running' }) },
  );
  await until(async () => (await stateOf(lost)).state !== 'open' && (await stateOf(settledOne)).state !== 'open');
  expect(await stateOf(before)).toEqual({ state: 'refunded', charged: 0 });
  expect(await stateOf(lost)).toEqual({ state: 'refunded', charged: 0 });
  expect(await stateOf(settledOne)).toEqual({ state: 'settled', charged: 1 });
  expect((await compareCounters(db, 10)).differences).toEqual([]);
});

test('both topics again from offset 0 leave the ledger as it is', async () => {
  const marker = await reserved();
  await deliver({ task: task(marker, { version: 2, status: 'refunded' }) });
  const ledger = () => quota.database.db('reservations').select('*').orderBy('id');
  const counters = () => quota.database.db('quota_days').select('*').orderBy(['subject', 'kind', 'day']);
  const before = { ledger: await ledger(), counters: await counters() };
  const replayed = createConsumer({
    db: quota.database.db,
    kafka: quota.kafka.client,
    groupId: 'quota-from-the-start',
    subscriptions: subscriptions({ signals: createSignals(logger) }),
    onFatal: (error) => logger.fatal(error),
  });
  replayed.start();
  try {
    await replayed.joined;
    const ends = await endOffsets();
    await Promise.all(ends.map((id) => untilSettled(replayed, id)));
  } finally {
    await replayed.stop();
  }
  expect({ ledger: await ledger(), counters: await counters() }).toEqual(before);
});

/** Publishes one new event at the end of each partition; returns their ids. */
async function endOffsets(): Promise<string[]> {
  const messages = [topics.tasks, topics.images].flatMap((topic) =>
    [0, 1].map((partition) => ({ topic, partition, id: randomUUID() })),
  );
  await quota.producer.publishRaw(
    messages.map(({ topic, partition, id }) => ({
      topic,
      partition,
      value: '{}',
      headers: { ce_id: id, ce_type: 'test.end', ce_source: 'test', ce_specversion: '1.0' },
    })),
  );
  return messages.map(({ id }) => id);
}
