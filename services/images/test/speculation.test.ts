import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { defaultLimits } from '@vision/contracts/limits';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import type { Fault, FakeQuota } from './support/fake-quota.ts';
import { detected } from './support/fake-inference.ts';
import { files, picture } from './support/form.ts';
import { startImages, startReplica } from './support/start-images.ts';
import type { CallOptions, TestImages } from './support/start-images.ts';

const metrics = testMetrics();
let images: TestImages;
beforeEach(async () => {
  images = await startImages();
});
afterEach(() => images.stop());

const one = (name: string) => files(picture(name));
const caller = { limits: { ...defaultLimits, images_per_day: 100 } };
const seen = (name: string) => images.inference.seen.includes(name);
const inVain = async () => (await metrics.sumOf('vision.images.head_starts', { outcome: 'in_vain' })) ?? 0;
const keys = () => images.database.db('idempotency_keys');

/** A first call that makes the remaining units of its subject known. */
async function becomeKnown(options: CallOptions = {}): Promise<void> {
  expect((await images.detect(one('known'), { caller, ...options })).status).toBe(201);
}

/** Delays reservations until the returned function is called. */
function holdReservations({ quota }: { quota: FakeQuota }) {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  quota.fault = async (what): Promise<Fault> => {
    if (what !== 'reserve') return 'none';
    asked += 1;
    await held.promise;
    return 'none';
  };
  return { release: held.resolve, asked: () => asked };
}

test('detects an image while its units are being reserved, and stores and answers only after that', async () => {
  await becomeKnown();
  const stored = await images.s3.objects();
  const reservation = holdReservations(images);
  let isAnswered = false;
  const call = images.detect(one('early'), { caller }).finally(() => (isAnswered = true));
  await until(() => seen('early') && reservation.asked() === 1);
  expect(await images.s3.objects()).toEqual(stored);
  expect(await keys().where({ state: 'working' })).toHaveLength(1);
  expect(await images.database.db('image_calls')).toHaveLength(1);
  expect(isAnswered).toBe(false);
  reservation.release();
  expect((await call).status).toBe(201);
  expect(await images.s3.objects()).toHaveLength(stored.length + 1);
  expect(images.quota.used()).toBe(2);
});

test('detects for a subject of unknown quota only after its units are reserved', async () => {
  const reservation = holdReservations(images);
  const call = images.detect(one('first'), { caller });
  await until(() => reservation.asked() === 1);
  expect(images.inference.seen).toEqual([]);
  reservation.release();
  expect((await call).status).toBe(201);
});

test('the work of a call whose units are refused is aborted and counted, and leaves no data', async () => {
  await becomeKnown();
  const before = await inVain();
  const reservation = holdReservations(images);
  images.inference.answer = () => 'hang';
  const key = randomUUID();
  const call = images.detect(one('vain'), { caller, key });
  await until(() => seen('vain') && reservation.asked() === 1);
  // Another replica has granted the rest of the day meanwhile.
  images.quota.usedElsewhere = 99;
  reservation.release();
  expect((await call).body.code).toBe('OP-QUOTA-DAILY-EXHAUSTED');
  expect(await inVain()).toBe(before + 1);
  expect(await keys().where({ key })).toEqual([]);
  expect(await images.s3.objects()).toHaveLength(1);
  expect(images.quota.used()).toBe(100);
});

test('after a refusal, detects for the subject only after its units are reserved, even with units left', async () => {
  await becomeKnown();
  const videoKey = randomUUID();
  images.quota.videoKeys.add(videoKey);
  expect((await images.detect(one('conflict'), { caller, key: videoKey })).status).toBe(400);
  for (let turn = 0; turn < 3; turn += 1) {
    const before = images.inference.seen.length;
    expect((await images.detect(one('again'), { caller, key: videoKey })).status).toBe(400);
    expect(images.inference.seen).toHaveLength(before);
  }
  const reservation = holdReservations(images);
  const call = images.detect(one('honest'), { caller });
  await until(() => reservation.asked() === 1);
  expect(seen('honest')).toBe(false);
  reservation.release();
  expect((await call).status).toBe(201);
});

test('detects for a subject with few units left only after they are reserved', async () => {
  images.quota.usedElsewhere = 89;
  await becomeKnown();
  const reservation = holdReservations(images);
  const call = images.detect(one('few'), { caller });
  await until(() => reservation.asked() === 1);
  expect(seen('few')).toBe(false);
  reservation.release();
  expect((await call).status).toBe(201);
});

test('one subject gets half of the slots for speculative execution; its other calls reserve first', async () => {
  const replica = await startReplica(images, { HEAD_STARTS: '4' });
  await replica.detect(one('known'), { caller });
  const reservation = holdReservations(images);
  const calls = ['a', 'b', 'c', 'd'].map((name) => replica.detect(one(`many-${name}`), { caller }));
  await until(() => reservation.asked() === 4);
  const begun = () => images.inference.seen.filter((name) => name.startsWith('many'));
  await until(() => begun().length >= 2);
  expect(begun()).toHaveLength(2);
  reservation.release();
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(4).fill(201));
  await replica.stop();
});

test('identical calls at two replicas give one result and one charge, although both speculated', async () => {
  const other = await startReplica(images);
  await becomeKnown();
  await other.detect(one('known too'), { caller });
  const before = images.quota.used();
  const key = randomUUID();
  const gate = Promise.withResolvers<void>();
  images.inference.answer = () => gate.promise.then(() => detected());
  const calls = [images, other].map((replica) => replica.detect(one('twice'), { caller, key }));
  await until(async () => (await keys().where({ key })).length === 1);
  gate.resolve();
  const answers = await Promise.all(calls);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 201]);
  expect(images.quota.used()).toBe(before + 1);
  expect(await images.s3.objects()).toHaveLength(3);
  await other.stop();
});

test('a call whose reservation fails is rolled back and its detection aborted', async () => {
  await becomeKnown();
  images.inference.answer = () => 'hang';
  images.quota.fault = (what) => (what === 'reserve' ? 'refuse' : 'none');
  const key = randomUUID();
  expect((await images.detect(one('away'), { caller, key })).status).toBe(503);
  expect(await keys().where({ key })).toEqual([]);
  expect(await images.s3.objects()).toHaveLength(1);
  images.quota.fault = () => 'none';
  images.inference.answer = () => detected();
  expect((await images.detect(one('away'), { caller, key })).status).toBe(201);
});
