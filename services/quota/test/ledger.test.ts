import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { closeReservation, reserveUnits } from '../src/db/ledger.ts';
import type { Reservation } from '../src/domain/reservation.ts';
import { compareCounters } from '../src/db/verification.ts';
import { createSignals } from '../src/signals.ts';
import { runRetention } from '../src/use-cases/run-retention.ts';
import { getUsageDays } from '../src/use-cases/get-usage-days.ts';
import { getUsage } from '../src/use-cases/get-usage.ts';
import { verify } from '../src/use-cases/verify.ts';
import { atTime, logger, newId, testLedger } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testLedger();
});
afterAll(async () => {
  const { differences } = await compareCounters(database.db, 10);
  await database.drop();
  expect(differences).toEqual([]);
});

const reservation = (facts: Partial<Reservation> = {}): Reservation => ({
  id: newId(),
  subject: randomUUID(),
  idempotencyKey: randomUUID(),
  kind: 'video',
  units: 1,
  limit: 5,
  ...facts,
});
const usedOf = async (subject: string) => (await getUsage(database, subject, { video: 5, image: 100 })).video.used;

test('200 reserves at once against a limit of 5 grant exactly 5', async () => {
  const subject = randomUUID();
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, async () => (await reserveUnits(database.db, reservation({ subject }))).outcome),
  );
  expect(outcomes.filter((outcome) => outcome === 'granted')).toHaveLength(5);
  expect(outcomes.filter((outcome) => outcome === 'exhausted')).toHaveLength(195);
  expect(await usedOf(subject)).toBe(5);
  expect(await database.db('reservations').where({ subject })).toHaveLength(5);
});

test('40 reserves of 10 images at once against a limit of 100 grant exactly 100 units', async () => {
  const subject = randomUUID();
  const asked = Array.from({ length: 40 }, () => reservation({ subject, kind: 'image', units: 10, limit: 100 }));
  const rows = await Promise.all(asked.map((input) => reserveUnits(database.db, input)));
  expect(rows.filter(({ outcome }) => outcome === 'granted')).toHaveLength(10);
  expect((await getUsage(database, subject, { video: 5, image: 100 })).image.used).toBe(100);
});

test('50 reserves of one id at once take its units once', async () => {
  const one = reservation();
  const rows = await Promise.all(Array.from({ length: 50 }, () => reserveUnits(database.db, one)));
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['granted']));
  expect(await usedOf(one.subject)).toBe(1);
});

test('a limit is reached exactly: the last unit is granted, one more is not', async () => {
  const subject = randomUUID();
  expect(await reserveUnits(database.db, reservation({ subject, units: 5 }))).toMatchObject({ outcome: 'granted' });
  expect(await reserveUnits(database.db, reservation({ subject }))).toMatchObject({ outcome: 'exhausted', used: 5 });
  expect(await reserveUnits(database.db, reservation({ limit: 0 }))).toMatchObject({ outcome: 'exhausted', used: 0 });
});

test('a lowered limit grants nothing more and leaves what was granted', async () => {
  const subject = randomUUID();
  await reserveUnits(database.db, reservation({ subject, units: 4 }));
  expect(await reserveUnits(database.db, reservation({ subject, limit: 3 }))).toMatchObject({ outcome: 'exhausted' });
  expect(await getUsage(database, subject, { video: 3, image: 0 })).toMatchObject({ video: { used: 4, remaining: 0 } });
});

test('of many settlements and refunds at once one wins and all answer what it charges', async () => {
  const one = reservation({ units: 5 });
  await reserveUnits(database.db, one);
  const rows = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0
        ? closeReservation(database.db, one, { state: 'refunded', units: 0 })
        : closeReservation(database.db, one, { state: 'settled', units: 1 + (index % 5) }),
    ),
  );
  const answers = new Set(rows.map(({ charged }) => charged));
  expect(answers.size).toBe(1);
  expect([...answers]).toEqual([await usedOf(one.subject)]);
});

test('a refund that overtakes its reserve leaves nothing charged', async () => {
  const one = reservation();
  expect(await closeReservation(database.db, one, { state: 'refunded', units: 0 })).toMatchObject({ charged: 0 });
  expect(await reserveUnits(database.db, one)).toMatchObject({ outcome: 'closed' });
  expect(await usedOf(one.subject)).toBe(0);
});

test('a refund and its reserve at the same time leave nothing charged, in any order', async () => {
  const all = Array.from({ length: 60 }, () => reservation());
  await Promise.all(
    all.flatMap((one) => [
      reserveUnits(database.db, one),
      closeReservation(database.db, one, { state: 'refunded', units: 0 }),
    ]),
  );
  expect(await Promise.all(all.map(({ subject }) => usedOf(subject)))).toEqual(all.map(() => 0));
});

test('one key is granted for one kind only, also when both kinds ask at once', async () => {
  const pairs = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const facts = { subject: randomUUID(), idempotencyKey: randomUUID() };
      const both = [reservation(facts), reservation({ ...facts, kind: 'image' })];
      return (await Promise.all(both.map((one) => reserveUnits(database.db, one))))
        .map(({ outcome }) => outcome)
        .sort();
    }),
  );
  expect(pairs).toEqual(pairs.map(() => ['conflict', 'granted']));
});

test.each([
  { how: 'refunded', closing: { state: 'refunded', units: 0 }, expected: 'granted' },
  { how: 'settled, even with nothing charged', closing: { state: 'settled', units: 0 }, expected: 'conflict' },
] as const)(
  'after a reservation was $how, its key asked for the other kind is $expected',
  async ({ closing, expected }) => {
    const first = reservation();
    await reserveUnits(database.db, first);
    await closeReservation(database.db, first, closing);
    const other = reservation({ subject: first.subject, idempotencyKey: first.idempotencyKey, kind: 'image' });
    expect(await reserveUnits(database.db, other)).toMatchObject({ outcome: expected });
  },
);

test('a refused reserve leaves key and id free', async () => {
  const one = reservation({ units: 6 });
  expect(await reserveUnits(database.db, one)).toMatchObject({ outcome: 'exhausted' });
  expect(await reserveUnits(database.db, { ...one, kind: 'image', limit: 100 })).toMatchObject({ outcome: 'granted' });
});

test('a known id with other facts is refused and changes nothing', async () => {
  const one = reservation();
  await reserveUnits(database.db, one);
  expect(await reserveUnits(database.db, { ...one, units: 2 })).toMatchObject({ outcome: 'differs' });
  expect(await reserveUnits(database.db, { ...one, subject: 'another' })).toMatchObject({ outcome: 'differs' });
  const foreign = { id: one.id, subject: 'another' };
  expect(await closeReservation(database.db, foreign, { state: 'refunded', units: 0 })).toMatchObject({
    outcome: 'differs',
  });
  expect(await closeReservation(database.db, one, { state: 'settled', units: 2 })).toMatchObject({
    outcome: 'differs',
  });
  expect(await usedOf(one.subject)).toBe(1);
});

test('a unit taken at 23:59:58 UTC+8 and refunded at 00:00:02 returns to the old day; the new day is whole', async () => {
  const one = reservation({ limit: 1 });
  const late = '2031-03-01T23:59:58+08:00';
  const early = '2031-03-02T00:00:02+08:00';
  expect(await atTime(database.db, late, (tx) => reserveUnits(tx, one))).toMatchObject({
    outcome: 'granted',
    day: '2031-03-01',
  });
  const limits = { video: 1, image: 1 };
  const usageAt = (instant: string) => atTime(database.db, instant, (tx) => getUsage({ db: tx }, one.subject, limits));
  expect((await usageAt(late)).video).toEqual({
    limit: 1,
    used: 1,
    remaining: 0,
    resets_at: '2031-03-02T00:00:00+08:00',
  });
  expect((await usageAt(early)).video.used).toBe(0);
  await atTime(database.db, early, (tx) => closeReservation(tx, one, { state: 'refunded', units: 0 }));
  expect((await usageAt(late)).video.used).toBe(0);
  expect((await usageAt(early)).video).toMatchObject({ used: 0, resets_at: '2031-03-03T00:00:00+08:00' });
  const again = await atTime(database.db, early, (tx) =>
    reserveUnits(tx, reservation({ subject: one.subject, limit: 1 })),
  );
  expect(again).toMatchObject({ outcome: 'granted', day: '2031-03-02' });
});

test('a reservation repeated after midnight stays with its day', async () => {
  const one = reservation();
  await atTime(database.db, '2031-05-01T23:59:59+08:00', (tx) => reserveUnits(tx, one));
  const next = '2031-05-02T00:00:01+08:00';
  expect(await atTime(database.db, next, (tx) => reserveUnits(tx, one))).toMatchObject({ outcome: 'granted' });
  expect(
    (await atTime(database.db, next, (tx) => getUsage({ db: tx }, one.subject, { video: 5, image: 1 }))).video.used,
  ).toBe(0);
});

test('the days of a subject tell what was charged on each, and nothing of others', async () => {
  const subject = randomUUID();
  const [images, undone] = [reservation({ subject, kind: 'image', units: 10, limit: 100 }), reservation({ subject })];
  await reserveUnits(database.db, reservation());
  await atTime(database.db, '2031-03-01T12:00:00+08:00', async (tx) => {
    await reserveUnits(tx, images);
    await reserveUnits(tx, undone);
    await closeReservation(tx, images, { state: 'settled', units: 7 });
  });
  await atTime(database.db, '2031-03-03T12:00:00+08:00', async (tx) => {
    await reserveUnits(tx, reservation({ subject }));
    await closeReservation(tx, undone, { state: 'refunded', units: 0 });
    const deps = { db: tx, settings: { retentionDays: 120, retentionBatch: 1, auditAgeMs: 60_000 } };
    const days = await getUsageDays(deps, { subject, from: '2031-02-28', to: '2031-03-31' });
    expect(days).toEqual([
      { day: '2031-02-28', video: 0, image: 0 },
      { day: '2031-03-01', video: 0, image: 7 },
      { day: '2031-03-02', video: 0, image: 0 },
      { day: '2031-03-03', video: 1, image: 0 },
    ]);
    expect(await getUsageDays(deps, { subject })).toHaveLength(30);
  });
});

test('verification names a counter that was tampered with, and only that', async () => {
  const one = reservation();
  await reserveUnits(database.db, one);
  await database.db('quota_days').where({ subject: one.subject }).update({ used: 3 });
  const { differences } = await verify({ db: database.db, signals: createSignals(logger) });
  expect(differences).toEqual([expect.objectContaining({ subject: one.subject, kind: 'video', used: 3, ledger: 1 })]);
  await database.db('quota_days').where({ subject: one.subject }).update({ used: 1 });
});

test('verification finds a reservation whose counter is gone', async () => {
  const one = reservation();
  await reserveUnits(database.db, one);
  const rows = (await database.db('quota_days').where({ subject: one.subject }).delete().returning('*')) as object[];
  expect((await compareCounters(database.db, 10)).differences).toMatchObject([{ used: 0, ledger: 1 }]);
  await database.db('quota_days').insert(rows);
});

test('retention folds closed reservations into their counter and never touches an open one', async () => {
  const past = new Date(Date.now() - 130 * 86_400_000).toISOString();
  const subject = randomUUID();
  const settled = reservation({ subject, kind: 'image', units: 10, limit: 100 });
  const open = reservation({ subject });
  const tombstone = newId();
  await atTime(database.db, past, async (tx) => {
    await reserveUnits(tx, settled);
    await reserveUnits(tx, open);
    await closeReservation(tx, settled, { state: 'settled', units: 7 });
    await closeReservation(tx, { id: tombstone, subject }, { state: 'refunded', units: 0 });
  });
  expect(
    (
      await runRetention({
        db: database.db,
        signals: createSignals(logger),
        settings: { retentionDays: 120, retentionBatch: 1, auditAgeMs: 60_000 },
      })
    ).reservations,
  ).toBe(2);
  expect(await database.db('reservations').where({ subject }).select('id', 'state')).toEqual([
    { id: open.id, state: 'open' },
  ]);
  expect((await compareCounters(database.db, 10)).differences).toEqual([]);
});
