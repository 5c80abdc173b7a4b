import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import type { Reservation } from '../src/domain/reservation.ts';
import { compareCounters } from '../src/db/verification.ts';
import { Close, Model, PassTime, Reserve, ReserveAgainstRefund } from './ledger-model.ts';
import { testLedger } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testLedger();
});
afterAll(() => database.drop());

const uuid = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
// Few of each, so that ids are repeated, keys are shared between kinds and limits are reached.
const subject = fc.constantFrom('anna', 'bert');
const id = fc.integer({ min: 1, max: 9 }).map((number) => `${uuid(number)}/1`);
const reservation: fc.Arbitrary<Reservation> = fc.record({
  id,
  subject,
  idempotencyKey: fc.integer({ min: 1, max: 4 }).map(uuid),
  kind: fc.constantFrom('video' as const, 'image' as const),
  units: fc.integer({ min: 1, max: 3 }),
  limit: fc.constantFrom(0, 4, 4, 5),
});
const target = fc.record({ id, subject });
const commands = [
  reservation.map((input) => new Reserve(input)),
  reservation.map((input) => new Reserve(input)),
  fc.tuple(target, fc.integer({ min: 0, max: 3 })).map(([one, units]) => new Close(one, { state: 'settled', units })),
  target.map((one) => new Close(one, { state: 'refunded', units: 0 })),
  reservation.map((input) => new ReserveAgainstRefund({ ...input, limit: 100 })),
  fc.constantFrom(30, 90, 600).map((minutes) => new PassTime(minutes)),
];

test('counters equal the ledger after any reserves, settlements, refunds, repeats and overtakings around midnight', async () => {
  const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);
  process.stdout.write(`ledger property: FC_SEED=${seed}\n`);
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: 'max' }), async (run) => {
      const { db } = database;
      await db.raw('truncate reservations, quota_days');
      const model = new Model();
      await fc.asyncModelRun(() => ({ model, real: db }), run);
      await checkInvariants(model);
    }),
    { seed, numRuns: 60, endOnFailure: false },
  );
});

async function checkInvariants(model: Model): Promise<void> {
  const { db } = database;
  // Counters are the sum of their reservations, never negative.
  expect((await compareCounters(db, 10)).differences).toEqual([]);
  const counters: { subject: string; kind: 'video' | 'image'; day: string; used: number }[] = await db(
    'quota_days',
  ).select('subject', 'kind', 'used', db.raw('day::text'));
  for (const { subject: who, kind, day, used } of counters) {
    expect(used).toBe(model.used(who, kind, day));
    expect(used).toBeGreaterThanOrEqual(0);
  }
  // One reservation per id, closed at most once, charging no more than it took; none without a request and none lost.
  const rows = await db('reservations')
    .select<{ id: string; subject: string; state: string; charged: number }[]>('id', 'subject', 'state', 'charged')
    .orderBy('id');
  const expected = [...model.entries]
    .map(([known, entry]) => ({ id: known, subject: entry.subject, state: entry.state, charged: entry.charged }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(rows).toEqual(expected);
  expect(await db('reservations').whereRaw(`not coalesce(${WELL_FORMED}, false)`)).toEqual([]);
}

/** Condition on the other columns for each state of an entry. */
const WELL_FORMED = `case state
  when 'open' then charged = units and closed_at is null
  when 'settled' then closed_at is not null
  when 'refunded' then charged = 0 and closed_at is not null
  when 'closed' then units = 0 and closed_at is not null
end and (state = 'closed' or units > 0 and num_nulls(idempotency_key, kind, day) = 0)`;
