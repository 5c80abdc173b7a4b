import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDb } from '../src/db/knex.ts';
import { openSession } from '../src/db/session.ts';
import { inTransaction } from '../src/db/transaction.ts';
import { askDatabase } from '../src/status/checks.ts';
import { createStatusReader } from '../src/status/status.ts';
import { asUnavailable } from '../src/unavailable.ts';
import { startFaultProxy } from '../src/testing/fault-proxy.ts';
import type { FaultProxy } from '../src/testing/fault-proxy.ts';
import { createTestDatabase } from '../src/testing/postgres.ts';
import type { TestDatabase } from '../src/testing/postgres.ts';
import { until } from '../src/testing/until.ts';

const POOL = 4;

let database: TestDatabase;
let proxy: FaultProxy;
let db: Knex;

beforeAll(async () => {
  database = await createTestDatabase([]);
  await database.db.raw('create table things (id int primary key)');
  const { hostname: host, port } = new URL(database.url);
  proxy = await startFaultProxy({ host, port: Number(port) });
  // The client waits five seconds longer than the server may take.
  db = createDb({ url: proxyUrl(), poolMax: POOL, applicationName: 'victim', statementTimeoutMs: 1_000 });
});

afterEach(() => void jest.useRealTimers());

afterAll(async () => {
  await db.destroy();
  await proxy.close();
  await database.drop();
});

const proxyUrl = () => Object.assign(new URL(database.url), { port: String(proxy.port) }).href;

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Every connection of the pool is open and has answered. */
const fillPool = () => Promise.all(Array.from({ length: POOL }, () => db.raw('select pg_sleep(0.2)')));

/** Fakes intervals only, such as heartbeats; sockets, timeouts and clocks are real. */
const stepIntervals = () =>
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'hrtime',
      'performance',
      'nextTick',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
    ],
  });

/** Makes the database report new sessions as read-only, or writable again. */
const setReadOnly = (is: boolean) =>
  database.db.raw(
    `alter database "${new URL(database.url).pathname.slice(1)}" set default_transaction_read_only = ${is}`,
  );

function vanish(): void {
  proxy.set({ kind: 'dead' });
  proxy.set({ kind: 'none' });
}

test('no statement fails twice when the server vanished without a reset', async () => {
  await fillPool();
  vanish();
  const lanes = Array.from({ length: 2 * POOL }, async () => {
    const failures = [await failureOf(db.raw('select 1')), await failureOf(db.raw('select 1'))];
    return failures.filter(Boolean).length;
  });
  const failures = await Promise.all(lanes);
  expect(Math.max(...failures)).toBe(1);
});

test('one lost statement is enough to replace all connections that are silent as long', async () => {
  await fillPool();
  vanish();
  expect(asUnavailable(await failureOf(db.raw('select 1')))?.kind).toBe('unavailable');
  for (let number = 0; number < POOL; number += 1) await db.raw('select 1');
});

test('a transaction whose statement got no answer fails with that and asks for no rollback', async () => {
  await fillPool();
  const failure = await failureOf(
    inTransaction(db, async (tx) => {
      await tx.raw('select 1');
      vanish();
      await tx.raw('select 1');
    }),
  );
  expect(failure).toMatchObject({ message: expect.stringContaining('Query read timeout') });
  await db.raw('select 1');
});

test('connections to a server that takes no writes any more are replaced, all at once', async () => {
  await fillPool();
  await db.raw('set default_transaction_read_only = on');
  const failures = await Promise.all(Array.from({ length: POOL }, (_, id) => failureOf(db('things').insert({ id }))));
  expect(failures.filter(Boolean)).toHaveLength(1);
  // The remaining connections may write; the pool closes them and checks new ones.
  await setReadOnly(true);
  const refused = await failureOf(db.raw('select 1'));
  expect(asUnavailable(refused)).toMatchObject({ reason: 'database_unavailable' });
  await setReadOnly(false);
  await until(() =>
    db('things')
      .insert({ id: 101 })
      .then(() => true),
  );
});

test('a pool that only opened connections to a server that takes no writes opens no more for a while', async () => {
  const refused = createDb({ url: proxyUrl(), poolMax: 2, applicationName: 'refused', statementTimeoutMs: 1_000 });
  await setReadOnly(true);
  const failures: unknown[] = [];
  for (let number = 0; number < 3; number += 1) failures.push(await failureOf(refused.raw('select 1')));
  await setReadOnly(false);
  await refused.destroy();
  expect(failures).toMatchObject([{ code: '25006' }, { code: '25006' }, { code: '08001' }]);
});

test('a session whose peer vanished is abandoned, and its holder is notified', async () => {
  let heard = 0;
  stepIntervals();
  const session = await openSession(db, () => void (heard += 1));
  expect(session.isOpen()).toBe(true);
  vanish();
  jest.advanceTimersByTime(10_000);
  await until(() => !session.isOpen());
  expect(heard).toBeGreaterThan(0);
  await session.close();
});

test('the server frees the locks of a session within seconds when its process vanishes', async () => {
  const session = await openSession(database.db);
  const [settings] = await session.query(
    `select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval,
            current_setting('tcp_keepalives_count') as count, current_setting('tcp_user_timeout')::int as unanswered`,
  );
  await session.close();
  expect(settings).toEqual({ idle: '5', interval: '2', count: '3', unanswered: 10_000 });
});

test('the status of a process finds dead connections of its pool behind one that answers', async () => {
  const mixed = createDb({ url: proxyUrl(), poolMax: POOL, applicationName: 'mixed', statementTimeoutMs: 3_000 });
  const { pool } = mixed.client as {
    pool: { acquire: () => { promise: Promise<object> }; release: (connection: object) => void };
  };
  const dead = await Promise.all([pool.acquire().promise, pool.acquire().promise]);
  vanish();
  const alive = await pool.acquire().promise;
  // The pool hands out the connection released last first.
  for (const connection of [...dead, alive]) pool.release(connection);
  const status = createStatusReader({ service: 'test', checks: { database: askDatabase(mixed, []) } });
  expect((await status.read()).dependencies).toEqual([
    { name: 'database', ms: expect.any(Number), fault: expect.stringContaining('no answer within') },
  ]);
  const later = await until(async () => {
    const told = await status.read();
    return told.dependencies.every(({ fault }) => fault === undefined) ? told : undefined;
  });
  expect(later.timeouts).toContainEqual({ upstream: 'postgres', operation: 'select', timeouts: expect.any(Number) });
  await mixed.destroy();
});
