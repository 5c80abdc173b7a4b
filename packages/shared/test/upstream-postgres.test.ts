import { SpanStatusCode } from '@opentelemetry/api';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createDb } from '../src/db/knex.ts';
import { startFaultProxy } from '../src/testing/fault-proxy.ts';
import { createTestDatabase } from '../src/testing/postgres.ts';
import type { TestDatabase } from '../src/testing/postgres.ts';
import { recordSpans } from '../src/testing/recorded-spans.ts';
import { factsOf } from '../src/upstream/upstream-facts.ts';

const recorded = recordSpans();
let database: TestDatabase;

/** Only the limit that a test is about is near: a busy machine must not be the one that decides. */
const LIMITS = { poolMax: 1, statementTimeoutMs: 60_000, acquireTimeoutMs: 60_000 };
const open = (near: Partial<typeof LIMITS> = {}, url = database.url) =>
  createDb({ url, applicationName: 'spans', ...LIMITS, ...near });

beforeAll(async () => {
  database = await createTestDatabase([]);
  await database.db.raw('create table things (id int primary key)');
});
afterAll(async () => {
  await database.drop();
  await recorded.stop();
});
beforeEach(() => recorded.clear());

/** As in a request. @returns the error of the work and what the span of its call says. */
async function failing(name: string, work: () => Promise<unknown>) {
  const error: unknown = await recorded.inRequest(work).catch((thrown: unknown) => thrown);
  const told = recorded
    .spans()
    .find((span) => span.name === name && span.status.code === SpanStatusCode.ERROR)?.attributes;
  return { told, facts: factsOf(error) };
}

test('a statement that takes too long, with its limit', async () => {
  const db = open({ statementTimeoutMs: 300 });
  const { told, facts } = await failing('postgres select', () => db.raw('select pg_sleep(600)'));
  await db.destroy();
  expect(told).toMatchObject({ 'error.type': 'total_timeout', 'app.timeout.limit_ms': 300 });
  expect(facts).toMatchObject({ name: 'postgres', error_type: 'total_timeout', limit_ms: 300 });
});

test('a wait for a lock', async () => {
  const db = open();
  await database.db.transaction(async (tx) => {
    await tx.raw('lock table things');
    const { told } = await failing('postgres select', () => db.raw('select * from things'));
    expect(told).toMatchObject({ 'error.type': 'lock_timeout' });
  });
  await db.destroy();
});

test('a wait for a connection of the pool, with its limit', async () => {
  // Its only connection has to be made in this time, too.
  const db = open({ acquireTimeoutMs: 4_000 });
  await db.transaction(async (tx) => {
    await tx.raw('select 1');
    const { told, facts } = await failing('postgres acquire', () => db.raw('select 1'));
    expect(told).toMatchObject({ 'error.type': 'pool_timeout', 'app.timeout.limit_ms': 4_000 });
    expect(facts).toMatchObject({ operation: 'acquire', error_type: 'pool_timeout' });
  });
  await db.destroy();
});

test('a server that is not there, and one that accepts and says nothing', async () => {
  const nobody = open({}, 'postgres://nobody:x@127.0.0.1:1/nothing');
  const { told } = await failing('postgres acquire', () => nobody.raw('select 1'));
  expect(told?.['error.type']).toBe('connect_failed');
  recorded.clear();
  const { hostname: host, port } = new URL(database.url);
  const proxy = await startFaultProxy({ host, port: Number(port) });
  proxy.set({ kind: 'black_hole' });
  const silent = open(
    { acquireTimeoutMs: 400 },
    Object.assign(new URL(database.url), { port: String(proxy.port) }).href,
  );
  const late = await failing('postgres acquire', () => silent.raw('select 1'));
  expect(late.told?.['error.type']).toMatch(/^(connect|pool)_timeout$/);
  await Promise.all([nobody.destroy(), silent.destroy(), proxy.close()]);
});

test('statements outside of a trace have no span', async () => {
  const db = open({});
  await db.raw('select 1');
  await db.destroy();
  expect(recorded.spans()).toEqual([]);
});
