import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { imageCallFinished } from '@vision/contracts/image-events';
import type { ImageCallSnapshot } from '@vision/contracts/image-events';
import { createConsumer } from '@vision/kafka/consumer';
import { on } from '@vision/kafka/subscription';
import { createObjectStore } from '@vision/objects/object-store';
import { ownPrefixOf } from '@vision/objects/own-prefix';
import { positionEpochsMigration, positionsMigration } from '@vision/kafka/positions';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { v7 as uuidv7 } from 'uuid';
import { reservationIdOf } from '@vision/contracts/reservation-id';
import { pictureKey } from '../src/domain/picture-key.ts';
import { createSignals } from '../src/signals.ts';
import { sweepOrphanPictures } from '../src/use-cases/sweep-orphan-pictures.ts';
import { claimKey } from '../src/db/idempotency-keys.ts';
import { createDb } from '@vision/shared/db/knex';
import { createLogger } from '@vision/shared/logger';
import { detected } from './support/fake-inference.ts';
import { files, picture } from './support/form.ts';
import { startImages, startReplica } from './support/start-images.ts';
import type { TestImages } from './support/start-images.ts';

const logger = createLogger('test', 'silent');
let images: TestImages;
/** Kafka client of this test; the service itself consumes no events. */
let positions: TestDatabase;
beforeAll(async () => {
  positions = await createTestDatabase([positionsMigration, positionEpochsMigration]);
  images = await startImages();
});
afterAll(async () => {
  await images.stop();
  await positions.drop();
});

test('a finished call is published once, in full, under its task id', async () => {
  const seen: ImageCallSnapshot[] = [];
  const consumer = createConsumer({
    db: positions.db,
    kafka: images.kafka.client,
    groupId: 'test',
    subscriptions: [
      on(imageCallFinished, (event) => {
        seen.push(event.data);
        return Promise.resolve();
      }),
    ],
    onFatal: (error) => logger.fatal(error),
  });
  consumer.start();
  images.inference.answer = (name) => (name === 'bad' ? { status: 422, body: { reason: 'no' } } : detected());
  const { body } = await images.detect(files(picture('bad'), picture('good')));
  await until(() => seen.length > 0);
  expect(seen).toEqual([
    {
      task_id: body.task_id,
      version: 1,
      subject: 'subject-a',
      request_id: body.request_id,
      scene_code: 'fire_smoke',
      status: 'succeeded',
      reservation_id: `${body.task_id}/1`,
      images_total: 2,
      images_succeeded: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      result_expires_at: expect.any(String),
    },
  ]);
  const [told] = seen;
  expect(Date.parse(told?.result_expires_at ?? '') - Date.parse(told?.created_at ?? '')).toBe(90 * 86_400_000);
  await consumer.stop(5_000);
});

test('returns the `client_ref` of a call, and compares it under the idempotency key', async () => {
  const key = randomUUID();
  const parts = files(picture('named'));
  const { body } = await images.detect(parts, { key, query: '?client_ref=order-7' });
  expect(body).not.toHaveProperty('client_ref');
  const told = await images.database.db('outbox').where({ key: body.task_id }).pluck<ImageCallSnapshot[]>('payload');
  expect(told).toMatchObject([{ client_ref: 'order-7' }]);
  const call = await images.get(`/internal/v1/image-calls/${body.task_id}`);
  expect(await call.json()).toMatchObject({ client_ref: 'order-7' });
  expect((await images.detect(parts, { key, query: '?client_ref=order-7' })).status).toBe(200);
  for (const query of ['', '?client_ref=order-8']) {
    const reused = await images.detect(parts, { key, query });
    expect([reused.status, reused.body.details]).toMatchObject([400, { reason: 'idempotency_key_reused' }]);
  }
  for (const query of [
    '?client_ref=',
    '?client_ref=a%20b',
    `?client_ref=${'a'.repeat(65)}`,
    '?client_ref=a&client_ref=b',
  ]) {
    const refused = await images.detect(parts, { query });
    expect([refused.status, refused.body.details]).toMatchObject([
      400,
      { reason: 'query_invalid', field: 'client_ref' },
    ]);
  }
});

test('publishes an event without a wake-up soon', async () => {
  const { body } = await images.detect(files(picture('untold')));
  const published = () => images.database.db('outbox').where({ key: body.task_id }).whereNotNull('published_at');
  await until(async () => (await published()).length === 1);
  await images.database.db('outbox').where({ key: body.task_id }).update({ published_at: null });
  await until(async () => (await published()).length === 1);
});

test('retains images, results and keys for 90 days, and removes them after that', async () => {
  images.inference.answer = () => detected();
  const key = randomUUID();
  const old = await images.detect(files(picture('old')), { key });
  const path = `/internal/v1/image-calls/${old.body.task_id}`;

  const before = await startReplica(images, { CLOCK_OFFSET: '2159 hours' });
  expect(await run(before)).toEqual({ image_calls: 0, pictures: 0 });
  expect((await before.get(path)).status).toBe(200);
  expect((await before.detect(files(picture('old')), { key })).status).toBe(200);
  await before.stop();

  const after = await startReplica(images, { CLOCK_OFFSET: '90 days', RETENTION_INTERVAL_MS: '3600000' });
  await until(async () => (await after.get(path)).status === 404);
  const again = await after.detect(files(picture('new')), { key });
  expect(again.status).toBe(201);
  expect(again.body.task_id).not.toBe(old.body.task_id);
  await run(after);
  expect((await images.s3.objects()).filter((name) => name.includes(old.body.task_id))).toEqual([]);
  expect(await images.database.db('image_calls').where({ task_id: old.body.task_id })).toEqual([]);
  expect(await images.database.db('images').where({ task_id: old.body.task_id })).toEqual([]);
  expect((await images.s3.objects()).filter((name) => name.includes(again.body.task_id))).toHaveLength(1);
  expect(await run(after)).toEqual({ image_calls: 0, pictures: 0 });
  await after.stop();
});

test('the sweep removes images that no call names, once they are old enough', async () => {
  const { database, s3 } = images;
  const store = createObjectStore({ ...s3 });
  const ownPrefix = await ownPrefixOf({ db: database.db, name: 'pictures', prefix: 'pictures/' });
  const keyOf = (taskId: string, seq: number) => pictureKey(ownPrefix, taskId, seq);
  const put = (taskId: string, seq = 0) =>
    store.put({ key: keyOf(taskId, seq), body: Buffer.from('x'), contentType: 'image/png' });
  const known = (await images.detect(files(picture('known')))).body.task_id;
  const [orphan, working] = [uuidv7(), uuidv7()];
  await put(orphan);
  await put(working);
  // Stored, but its image failed because the answer of the store was lost.
  await put(known, 1);
  const leftover = `${keyOf(known, 0)}-${randomUUID()}`;
  await store.put({ key: leftover, body: Buffer.from('x'), contentType: 'image/png' });
  await claimKey(database.db, newKey(working), 60_000);
  const settings = { orphanAgeMs: 60_000, fullSweepMs: 3_600_000, sweepGraceMs: 0, callMs: 80_000, keyWaitMs: 15_000 };
  const deps = { db: database.db, logger, store, signals: createSignals(logger), settings };
  expect(await sweepOrphanPictures(deps, { everyMs: 0 })).toBe(0);
  const later = createDb({ url: database.url, applicationName: 'later', clockOffset: '61 seconds' });
  expect(await sweepOrphanPictures({ ...deps, db: later }, { everyMs: 0 })).toBe(3);
  await later.destroy();
  const left = await s3.objects();
  expect(left).toContain(keyOf(known, 0));
  expect(left).toContain(keyOf(working, 0));
  expect(left).not.toContain(keyOf(orphan, 0));
  expect(left).not.toContain(keyOf(known, 1));
  expect(left).not.toContain(leftover);
  store.close();
});

async function run(replica: { call: (method: string, path: string) => Promise<Response> }): Promise<unknown> {
  return (await replica.call('POST', '/internal/v1/retention/run')).json();
}

function newKey(taskId: string) {
  return {
    subject: 'sweep',
    key: randomUUID(),
    taskId,
    requestId: 'r',
    fingerprint: 'f',
    sceneCode: 'ship',
    clientRef: null,
    imagesTotal: 1,
    reservationId: reservationIdOf(taskId, 1),
  };
}
