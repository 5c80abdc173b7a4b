import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testMetrics } from '@vision/shared/testing/metrics';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { closeReservation, reserveUnits } from '../src/db/ledger.ts';
import { countOpenReservations } from '../src/db/open-reservations.ts';
import { createSignals } from '../src/signals.ts';
import { atOffset, logger, newId, startQuota, testLedger } from './support.ts';

const metrics = testMetrics();
let database: TestDatabase;
beforeAll(async () => {
  database = await testLedger();
});
afterAll(() => database.drop());

const reservation = (kind: 'video' | 'image') => ({
  id: newId(),
  subject: randomUUID(),
  idempotencyKey: randomUUID(),
  kind,
  units: 1,
  limit: 5,
});

test('open reservations are counted by kind with the age of the oldest; none is 0, and unknown is not shown', async () => {
  const { db } = database;
  const { census } = createSignals(logger);
  const shown = (name: string, kind: string) => metrics.sumOf(`vision.quota.${name}`, { kind });
  expect(await shown('reservations', 'video')).toBeUndefined();
  const closed = reservation('video');
  await atOffset(db, '-1 hour', (tx) => reserveUnits(tx, reservation('video')));
  for (const one of [reservation('video'), closed]) await reserveUnits(db, one);
  await closeReservation(db, closed, { state: 'refunded', units: 0 });
  census(await countOpenReservations(db));
  expect(await shown('reservations', 'video')).toBe(2);
  expect(await shown('reservations', 'image')).toBe(0);
  expect(await shown('oldest_reservation_age', 'video')).toBeGreaterThanOrEqual(3_600);
  expect(await shown('oldest_reservation_age', 'image')).toBe(0);
  census(undefined);
  expect(await shown('reservations', 'video')).toBeUndefined();
});

test('an index of the open reservations answers', async () => {
  const plan = await database.db.transaction(async (tx) => {
    await tx.raw('set local enable_seqscan = off');
    const { rows } = await tx.raw<{ rows: object[] }>(
      `explain select kind, count(*), min(created_at) from reservations where state = 'open' and kind is not null group by kind`,
    );
    return JSON.stringify(rows);
  });
  expect(plan).toContain('reservations_ask');
});

test('the service looks by itself', async () => {
  const quota = await startQuota();
  try {
    await until(async () => (await metrics.sumOf('vision.quota.reservations')) === 0);
  } finally {
    await quota.stop();
  }
});
