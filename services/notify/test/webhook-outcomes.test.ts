import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@vision/shared/logger';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { migrations } from '../src/db/migrations/list.ts';
import { claimDeliveries } from '../src/db/webhook-deliveries.ts';
import type { ClaimedDelivery, DeliveryRow } from '../src/db/webhook-deliveries.ts';
import type { Answer } from '../src/domain/delivery.ts';
import { createSignals } from '../src/signals.ts';
import { createRecordAttempt } from '../src/use-cases/webhooks/record-attempt.ts';

let database: TestDatabase;
/** Statements since the last test began. */
const statements: string[] = [];
/** Errors of statements that should store several outcomes. */
const failures: unknown[] = [];
beforeAll(async () => {
  database = await createTestDatabase(migrations, { poolMax: 10 });
  database.db.on('query', ({ sql }: { sql: string }) => statements.push(sql));
});
beforeEach(async () => {
  await database.db('webhook_endpoints').delete();
  statements.length = 0;
  failures.length = 0;
});
afterAll(() => database.drop());

const box = Buffer.alloc(8);
const ok: Answer = { outcome: 'delivered', status: 204 };
const refused: Answer = { outcome: 'http_status', status: 503 };

/** An endpoint with claimed deliveries, and the function that records their outcomes. */
async function claimedOf(count: number, facts: Record<string, unknown> = {}) {
  const { db } = database;
  const key = randomUUID();
  const row = { endpoint_key: key, subject: key, endpoint_id: 'hook', url_box: box, host: 'example.org' };
  await db('webhook_endpoints').insert({ ...row, secret_box: box, is_enabled: true, position: 0, ...facts });
  await db.raw(
    `insert into webhook_deliveries (delivery_id, endpoint_key, subject, position, event_id, type)
     select gen_random_uuid(), :key, :key, n, gen_random_uuid(), 'task.running' from generate_series(1, :count) as n`,
    { key, count },
  );
  const busy = { endpoints: new Map<string, number>(), subjects: new Map<string, number>() };
  const claims = await claimDeliveries(db, { limit: 99, leaseMs: 60_000, perEndpoint: 99, perSubject: 99, busy });
  statements.length = 0;
  return claims;
}

function recorder() {
  const signals = {
    ...createSignals(createLogger('test', 'silent')),
    attemptsNotStoredTogether: (error: unknown) => void failures.push(error),
  };
  return createRecordAttempt({ db: database.db, signals });
}

const ended = (answer: Answer) => ({
  answer,
  attempt: { at: new Date().toISOString(), duration_ms: 7 },
  occurredAt: new Date(),
});

type StoredDelivery = Pick<DeliveryRow, 'delivery_id' | 'state' | 'attempts' | 'lease_until'> & { failures: number };

async function deliveries(claims: readonly ClaimedDelivery[]): Promise<StoredDelivery[]> {
  const ids = claims.map(({ delivery_id }) => delivery_id);
  const rows = await database
    .db('webhook_deliveries')
    .whereIn('delivery_id', ids)
    .select<StoredDelivery[]>('delivery_id', 'state', 'failures', 'attempts', 'lease_until');
  return rows.sort((a, b) => ids.indexOf(a.delivery_id) - ids.indexOf(b.delivery_id));
}

const statesOf = async (claims: readonly ClaimedDelivery[]) => (await deliveries(claims)).map(({ state }) => state);
const endpoint = () => database.db('webhook_endpoints').first<object>();

test('attempts that end while another is stored are stored by one statement for each kind', async () => {
  const [answered, failed] = [await claimedOf(10), await claimedOf(10)];
  const record = recorder();
  await Promise.all([
    ...answered.map((claim) => record(claim, ended(ok))),
    ...failed.map((claim) => record(claim, ended(refused))),
  ]);
  // The first of each kind is stored alone.
  expect(statements).toHaveLength(4);
  for (const row of await deliveries(answered)) {
    expect(row).toMatchObject({ state: 'delivered', failures: 0 });
    expect(row.attempts).toEqual([{ at: expect.any(String), duration_ms: 7, ...ok }]);
  }
  for (const row of await deliveries(failed)) {
    expect(row).toMatchObject({ state: 'pending', failures: 1 });
    expect(row.attempts).toEqual([{ at: expect.any(String), duration_ms: 7, ...refused }]);
    expect(row.lease_until.getTime() - Date.now()).toBeLessThanOrEqual(6_000);
  }
});

test('every failed attempt counts for its endpoint, and an answer ends the series of failures', async () => {
  const claims = await claimedOf(5);
  const record = recorder();
  await Promise.all(claims.slice(1).map((claim) => record(claim, ended(refused))));
  expect(await endpoint()).toMatchObject({ failures: 4, failing_since: expect.any(Date) });
  await Promise.all(claims.slice(0, 1).map((claim) => record(claim, ended(ok))));
  expect(await endpoint()).toMatchObject({ failures: 0, failing_since: null });
});

test('a delivery whose row another transaction holds is waited for alone', async () => {
  const claims = await claimedOf(4);
  const record = recorder();
  const held = await database.db.transaction();
  await held('webhook_deliveries').where({ delivery_id: claims[1]?.delivery_id }).forUpdate().select();
  const [first, blocked, ...rest] = claims.map((claim) => record(claim, ended(ok)));
  await Promise.all([first, ...rest]);
  expect(await statesOf(claims)).toEqual(['delivered', 'pending', 'delivered', 'delivered']);
  await held.rollback();
  await blocked;
  expect(await statesOf(claims)).toEqual(claims.map(() => 'delivered'));
  expect(failures).toEqual([]);
});

test('an endpoint that another transaction holds delays the failures of no other', async () => {
  const [one] = await claimedOf(1);
  const [other, third] = await claimedOf(2);
  if (!one || !other || !third) throw new Error('nothing is claimed');
  const record = recorder();
  const held = await database.db.transaction();
  await held('webhook_endpoints').where({ endpoint_key: one.endpoint_key }).forUpdate().select();
  const first = record(other, ended(refused));
  const blocked = record(one, ended(refused));
  await Promise.all([first, record(third, ended(refused))]);
  await until(() => statements.some((sql) => sql.includes('failing_since = coalesce(failing_since')));
  expect((await deliveries([one, other, third])).map((row) => row.failures)).toEqual([0, 1, 1]);
  await held.rollback();
  await blocked;
  expect((await deliveries([one])).map((row) => row.failures)).toEqual([1]);
  expect(failures).toEqual([]);
});

test.each([
  ['answers', ok, 'delivered'],
  ['failures', refused, 'pending'],
])('of %s that end together, one that cannot be stored harms no other', async (_what, answer, state) => {
  const claims = await claimedOf(6);
  await database.db.raw(`
    create function refuse_one() returns trigger language plpgsql as $$
    begin
      if new.delivery_id = '${claims[3]?.delivery_id}' then raise exception 'no'; end if;
      return new;
    end $$;
    create trigger refuse_one before update on webhook_deliveries for each row execute function refuse_one()`);
  const record = recorder();
  const outcomes = await Promise.allSettled(claims.map((claim) => record(claim, ended(answer))));
  await database.db.raw('drop trigger refuse_one on webhook_deliveries; drop function refuse_one');
  expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(claims.map((_, index) => index === 3));
  expect(failures).toHaveLength(1);
  const stored = await deliveries(claims);
  expect(stored.map((row) => row.state)).toEqual(claims.map((_, index) => (index === 3 ? 'pending' : state)));
  expect(stored.map((row) => row.attempts.length)).toEqual(claims.map((_, index) => (index === 3 ? 0 : 1)));
});

test('an outcome of a claim that is no longer in force changes nothing', async () => {
  const claims = await claimedOf(4);
  const record = recorder();
  await database.db('webhook_deliveries').increment('attempt', 1);
  await Promise.all(claims.map((claim, index) => record(claim, ended(index < 2 ? ok : refused))));
  for (const row of await deliveries(claims)) expect(row).toMatchObject({ state: 'pending', attempts: [] });
});

test('what was delivered while its endpoint was disabled is not sent again; what failed stays held', async () => {
  const claims = await claimedOf(6);
  const record = recorder();
  await database.db('webhook_endpoints').update({ is_enabled: false });
  await database.db('webhook_deliveries').update({ state: 'held' });
  await Promise.all(claims.map((claim, index) => record(claim, ended(index < 3 ? ok : refused))));
  const held = ['held', 'held', 'held'];
  expect(await statesOf(claims)).toEqual(['delivered', 'delivered', 'delivered', ...held]);
});

test('failures of the old address do not count for the new one, and end no endpoint', async () => {
  const long = new Date(Date.now() - 73 * 3_600_000);
  const claims = await claimedOf(4, { failing_since: long, failures: 9 });
  await database.db('webhook_endpoints').update({ url_box: Buffer.alloc(9), failing_since: null, failures: 0 });
  const record = recorder();
  await Promise.all(claims.map((claim) => record(claim, ended(refused))));
  expect(await endpoint()).toMatchObject({ is_enabled: true, failures: 0, failing_since: null });
  expect((await deliveries(claims)).map((row) => row.failures)).toEqual([1, 1, 1, 1]);
});

test('failures that end together end an endpoint that has failed for three days, once', async () => {
  const long = new Date(Date.now() - 73 * 3_600_000);
  const claims = await claimedOf(6, { failing_since: long, failures: 6 });
  const record = recorder();
  await Promise.all(claims.map((claim) => record(claim, ended(refused))));
  expect(await endpoint()).toMatchObject({ is_enabled: false, disabled_reason: 'failing' });
  expect(await statesOf(claims)).toEqual(claims.map(() => 'held'));
  const events = await database.db('events').where({ subject: claims[0]?.subject }).select<{ type: string }[]>('type');
  expect(events.map(({ type }) => type)).toEqual(['webhook_endpoint.disabled']);
});

test('the last attempt of a day fails its delivery for good', async () => {
  const claims = await claimedOf(3);
  const record = recorder();
  await Promise.all(claims.map((claim) => record({ ...claim, age_ms: 24 * 3_600_000 }, ended(refused))));
  expect(await statesOf(claims)).toEqual(['failed', 'failed', 'failed']);
});
