import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Difference } from '@vision/contracts/audit';
import { createLogger } from '@vision/shared/logger';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { closeReservation, reserveUnits } from '../src/db/ledger.ts';
import { compareCounters } from '../src/db/verification.ts';
import type { Reservation } from '../src/domain/reservation.ts';
import { newId, startQuota, testLedger } from './support.ts';
import type { TestQuota } from './support.ts';

const metrics = testMetrics();
const lines: { level: string; msg: string; kind?: string; id?: string }[] = [];
const logger = createLogger('quota', 'info', {
  write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]),
});
let quota: TestQuota;
beforeAll(async () => {
  quota = await startQuota({ AUDIT_INTERVAL_MS: '50', AUDIT_AGE_MS: '3000' }, logger);
});
afterAll(() => quota.stop());

async function reserved(facts: Partial<Reservation> = {}): Promise<Reservation> {
  const one: Reservation = {
    id: `${randomUUID()}/1`,
    subject: randomUUID(),
    idempotencyKey: randomUUID(),
    kind: 'video',
    units: 3,
    limit: 1_000,
    ...facts,
  };
  await reserveUnits(quota.database.db, one);
  return one;
}
const differences = async () =>
  (
    (await (await quota.call('GET', '/internal/v1/differences', { issuer: 'gateway' })).json()) as {
      items: Difference[];
    }
  ).items;
const of = async (subject: string) => (await differences()).filter(({ id }) => id.endsWith(subject));
const gauge = () => metrics.sumOf('vision.audit.differences', { kind: 'quota_counter' });
const dayOf = async (subject: string) => {
  const { rows } = await quota.database.db.raw<{ rows: { day: string }[] }>(
    'select day::text from quota_days where subject = ?',
    [subject],
  );
  return rows[0]?.day ?? '';
};
const repair = (subject: string, day: string) =>
  quota.call('POST', '/internal/v1/counters/repair', {
    issuer: 'gateway',
    body: { subject, kind: 'video', day, who: 'zoe', reason: 'found by the audit' },
  });

test('a counter that was changed by hand is reported, shown and gone after a repair that is kept with who and why', async () => {
  const { subject } = await reserved();
  await quota.database.db('quota_days').where({ subject }).update({ used: 5 });
  await until(async () => (await of(subject)).length === 1);
  const day = await dayOf(subject);
  expect(await of(subject)).toEqual([
    {
      kind: 'quota_counter',
      id: `${day}/video/${subject}`,
      since: expect.any(String),
      details: { used: 5, ledger: 3 },
    },
  ]);
  await until(async () => (await gauge()) === 1);
  const told = lines.filter(({ msg, id }) => msg === 'an audit found a difference' && id?.endsWith(subject));
  expect(told).toMatchObject([{ level: 'error', kind: 'quota_counter', details: { used: 5, ledger: 3 } }]);
  const answer = await repair(subject, day);
  expect(await answer.json()).toEqual({ subject, kind: 'video', day, used_before: 5, used_after: 3 });
  await until(async () => (await of(subject)).length === 0);
  await until(async () => (await gauge()) === 0);
  expect(
    await quota.database.db('counter_repairs').where({ subject }).select('used_before', 'used_after', 'who', 'reason'),
  ).toEqual([{ used_before: 5, used_after: 3, who: 'zoe', reason: 'found by the audit' }]);
});

test('reservations that were changed or removed by hand are reported', async () => {
  const [changed, removed] = [await reserved(), await reserved()];
  const { db } = quota.database;
  await db('reservations').where({ id: changed.id }).update({ charged: 1 });
  await db('reservations').where({ id: removed.id }).delete();
  await until(async () => (await of(changed.subject)).length === 1 && (await of(removed.subject)).length === 1);
  for (const { subject } of [changed, removed]) await repair(subject, await dayOf(subject));
  await until(async () => (await differences()).length === 0);
});

test('a reservation without its counter is reported', async () => {
  const { subject, id } = await reserved();
  await quota.database.db.raw(
    `insert into reservations (id, subject, state, idempotency_key, kind, day, units, charged, created_at)
     select id || '/copy', subject, state, gen_random_uuid(), kind, day, units, charged, created_at
       from reservations where id = ?`,
    [id],
  );
  await until(async () => (await of(subject)).length === 1);
  expect((await of(subject))[0]).toMatchObject({ details: { used: 3, ledger: 6 } });
  await repair(subject, await dayOf(subject));
  await until(async () => (await of(subject)).length === 0);
});

test('a reserve is noted once, and a settlement only when units come back', async () => {
  const { db, drop } = await testLedger();
  const facts = { subject: randomUUID(), kind: 'image', units: 3, limit: 10 } as const;
  const one = { ...facts, id: newId(), idempotencyKey: randomUUID() };
  const other = { ...one, id: newId(), idempotencyKey: randomUUID() };
  const noted = () => db('ledger_changes').where({ subject: one.subject }).pluck<string[]>('kind');
  try {
    await reserveUnits(db, one);
    await closeReservation(db, one, { state: 'settled', units: 3 });
    expect(await noted()).toEqual(['image']);
    await reserveUnits(db, other);
    await closeReservation(db, other, { state: 'settled', units: 2 });
    expect(await noted()).toEqual(['image', 'image', 'image']);
  } finally {
    await drop();
  }
});

test('a reservation that was moved to another counter by hand is reported for both', async () => {
  const { id, subject } = await reserved();
  const other = randomUUID();
  await quota.database.db('reservations').where({ id }).update({ subject: other });
  await until(async () => (await of(subject)).length === 1 && (await of(other)).length === 1);
  for (const one of [subject, other]) await repair(one, (await dayOf(one)) || (await dayOf(subject)));
  await until(async () => (await differences()).length === 0);
});

test('a settlement is compared when someone had changed what its reservation charges', async () => {
  const one = await reserved();
  await quota.database.db('reservations').where({ id: one.id }).update({ charged: 2 });
  await until(async () => (await of(one.subject)).length === 1);
  await repair(one.subject, await dayOf(one.subject));
  await until(async () => (await of(one.subject)).length === 0);
  await closeReservation(quota.database.db, one, { state: 'settled', units: 2 });
  await until(async () => (await of(one.subject)).length === 1);
  expect((await of(one.subject))[0]).toMatchObject({ details: { used: 1, ledger: 2 } });
  await repair(one.subject, await dayOf(one.subject));
  await until(async () => (await differences()).length === 0);
});

test('a counter that was removed is made again by its repair', async () => {
  const { subject } = await reserved();
  const day = await dayOf(subject);
  await quota.database.db('quota_days').where({ subject }).delete();
  await until(async () => (await of(subject)).length === 1);
  expect(await (await repair(subject, day)).json()).toMatchObject({ used_before: 0, used_after: 3 });
  expect(await quota.database.db('quota_days').where({ subject }).first('used')).toEqual({ used: 3 });
});

test('a counter without a subject cannot be repaired', async () => {
  expect((await repair(randomUUID(), '2026-01-01')).status).toBe(404);
});

test('repairs under load change nothing that is right, and a busy ledger shows no difference', async () => {
  const subject = randomUUID();
  await reserved({ subject });
  const day = await dayOf(subject);
  const work = async () => {
    for (let round = 0; round < 25; round += 1) {
      const one = await reserved({ subject });
      await closeReservation(quota.database.db, one, { state: 'settled', units: round % 4 });
      if (round % 5 === 0) await repair(subject, day);
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  await until(async () => (await quota.database.db('ledger_changes').first('id')) === undefined);
  expect(await of(subject)).toEqual([]);
  expect((await compareCounters(quota.database.db, 10)).differences).toEqual([]);
  const told = lines.filter(({ msg, id }) => msg === 'an audit found a difference' && id?.endsWith(subject));
  expect(told).toEqual([]);
});

test('an open reservation is given out when it is due, to one asker, and again later', async () => {
  const [one, other] = [await reserved(), await reserved({ kind: 'image' })];
  const closed = await reserved();
  await closeReservation(quota.database.db, closed, { state: 'settled', units: 1 });
  const claim = async () => {
    const answer = await quota.call('POST', '/internal/v1/open-reservations', { body: { kind: 'video', limit: 500 } });
    return ((await answer.json()) as { items: { reservation_id: string }[] }).items.map((item) => item.reservation_id);
  };
  expect(await claim()).not.toContain(one.id);
  await quota.database.db('reservations').update({ ask_at: quota.database.db.fn.now() });
  const [first, second] = await Promise.all([claim(), claim()]);
  const given = [...first, ...second];
  expect(given.filter((id) => id === one.id)).toHaveLength(1);
  for (const { id } of [other, closed]) expect(given).not.toContain(id);
  const found = await quota.call('POST', '/internal/v1/open-reservations/find', {
    body: { reservation_ids: [one.id, closed.id, 'unknown'] },
  });
  expect(await found.json()).toEqual({ items: [{ reservation_id: one.id, subject: one.subject, units: 3 }] });
});

test('an open reservation is ended by hand, with its units or without, and once', async () => {
  const [charged, refunded] = [await reserved(), await reserved()];
  const end = async (id: string, outcome: string) => {
    const body = { reservation_id: id, outcome, who: 'zoe' };
    const answer = await quota.call('POST', '/internal/v1/open-reservations/end', { issuer: 'gateway', body });
    return [answer.status, await answer.json()];
  };
  const facts = { units: 3 };
  expect(await end(charged.id, 'charge')).toEqual([
    200,
    { ...facts, reservation_id: charged.id, subject: charged.subject, charged: 3 },
  ]);
  expect(await end(refunded.id, 'refund')).toEqual([
    200,
    { ...facts, reservation_id: refunded.id, subject: refunded.subject, charged: 0 },
  ]);
  const used = (subject: string) => quota.database.db('quota_days').where({ subject }).pluck<number[]>('used');
  expect([await used(charged.subject), await used(refunded.subject)]).toEqual([[3], [0]]);
  expect(await end(charged.id, 'refund')).toMatchObject([404, { details: { reason: 'reservation_not_open' } }]);
});

test('every open reservation is asked about again when an operator lets the audits run', async () => {
  const { id } = await reserved();
  const mine = quota.database.db('reservations').where({ id });
  await mine.clone().update({ ask_at: new Date(Date.now() + 3_600_000) });
  expect((await quota.call('POST', '/internal/v1/audits/run', { issuer: 'gateway' })).status).toBe(200);
  const [due] = await mine.clone().whereRaw('ask_at <= now()').pluck<string[]>('id');
  expect(due).toBe(id);
});
