import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { loadConfig } from '../src/config.ts';
import { clockMigration, databaseNow } from '../src/db/clock.ts';
import { databaseConfig, databaseConnection } from '../src/db/database-config.ts';
import { createDb } from '../src/db/knex.ts';
import { auditMigration } from '../src/audit/differences.ts';
import { claimTurn } from '../src/db/turns.ts';
import { claimDue, renewLease } from '../src/db/leases.ts';
import { openSession } from '../src/db/session.ts';
import { inTransaction } from '../src/db/transaction.ts';
import { asUnavailable } from '../src/unavailable.ts';
import type { Migration } from '../src/db/migrate.ts';
import { createTestDatabase } from '../src/testing/postgres.ts';
import type { TestDatabase } from '../src/testing/postgres.ts';
import { until } from '../src/testing/until.ts';

const schema: Migration = {
  name: '0001-things',
  up: async (db) => {
    await db.raw('create table things (id text primary key, n bigint not null default 0 check (n < 100))');
    await db.raw(
      'create table jobs (id text primary key, lease_until timestamptz not null, attempt int not null, status text not null)',
    );
  },
  down: async (db) => {
    await db.raw('drop table things, jobs');
  },
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase([schema, clockMigration, auditMigration], { poolMax: 4 });
});
afterAll(() => database.drop());

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test('a 64-bit integer is a number while it is safe and a bigint beyond', async () => {
  const { rows } = await database.db.raw<{ rows: unknown[] }>(
    'select 5::bigint as small, 9007199254740993::bigint as large',
  );
  expect(rows[0]).toEqual({ small: 5, large: 9007199254740993n });
});

test('a query that finds no free connection fails as unavailable', async () => {
  const db = createDb({ url: database.url, poolMax: 1, applicationName: 'tiny', acquireTimeoutMs: 2_000 });
  const tx = await db.transaction();
  const error = await failureOf(db.raw('select 1'));
  expect(asUnavailable(error)).toMatchObject({ kind: 'unavailable', reason: 'database_pool_exhausted' });
  await tx.rollback();
  await db.destroy();
});

test('a killed connection, a slow statement and a refused connection are unavailable, and the pool recovers', async () => {
  const db = createDb({ url: database.url, poolMax: 1, applicationName: 'victim', statementTimeoutMs: 300 });
  const sleeping = failureOf(inTransaction(db, (tx) => tx.raw('select pg_sleep(5)')));
  expect(asUnavailable(await sleeping)?.reason).toBe('database_busy');
  const killed = await failureOf(db.raw('select pg_terminate_backend(pg_backend_pid())'));
  expect(asUnavailable(killed)?.kind).toBe('unavailable');
  await until(() => db.raw('select 1').then(() => true));
  await db.destroy();
  const nowhere = createDb({ url: 'postgres://nobody@127.0.0.1:1/none', applicationName: 'nowhere' });
  expect(asUnavailable(await failureOf(nowhere.raw('select 1')))?.reason).toBe('connection_lost');
  await nowhere.destroy();
});

test('a broken constraint is no outage', async () => {
  const error = await failureOf(database.db('things').insert({ id: 'check', n: 100 }));
  expect(asUnavailable(error)).toBeUndefined();
});

test('two serializable transactions that disturb each other both end up applied', async () => {
  const { db } = database;
  await db('things').insert({ id: 'serial', n: 0 });
  let tries = 0;
  const { promise: bothHaveRead, resolve: release } = Promise.withResolvers<void>();
  const increment = () =>
    inTransaction(
      db,
      async (tx) => {
        const row = await tx('things').where({ id: 'serial' }).first<{ n: number }>('n');
        tries += 1;
        if (tries === 2) release();
        await bothHaveRead;
        await tx('things')
          .where({ id: 'serial' })
          .update({ n: row.n + 1 });
      },
      { isolationLevel: 'serializable' },
    );
  await Promise.all([increment(), increment()]);
  expect(await db('things').where({ id: 'serial' }).first<{ n: number }>('n')).toEqual({ n: 2 });
  expect(tries).toBe(3);
});

test('a shifted clock moves what is asked with vision_now() and nothing else', async () => {
  const { db, url } = database;
  const behind = createDb({ url, applicationName: 'behind', clockOffset: '-90 days' });
  const told = await behind.raw<{ rows: { shift: number; unshifted: boolean }[] }>(
    `select extract(epoch from vision_now() - now())::int / 86400 as shift, now() = transaction_timestamp() as unshifted`,
  );
  expect(told.rows).toEqual([{ shift: -90, unshifted: true }]);
  const before = await databaseNow(db);
  expect(Math.round((before.getTime() - (await databaseNow(behind)).getTime()) / 86_400_000)).toBe(90);
  const plain = await db.raw<{ rows: unknown[] }>('select vision_now() = now() as same');
  expect(plain.rows).toEqual([{ same: true }]);
  await behind.destroy();
});

test('a transaction inside a transaction is refused', async () => {
  const nested = inTransaction(database.db, (tx) => inTransaction(tx, () => Promise.resolve(1)));
  await expect(nested).rejects.toThrow('inside a transaction');
});

test('a failing transaction leaves nothing and is not repeated', async () => {
  let tries = 0;
  const failing = inTransaction(database.db, async (tx) => {
    tries += 1;
    await tx('things').insert({ id: 'gone' });
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await database.db('things').where({ id: 'gone' })).toEqual([]);
  expect(tries).toBe(1);
});

test('workers that claim at the same time never get the same row, and a lost lease cannot be renewed', async () => {
  const { db } = database;
  const past = new Date(Date.now() - 1000);
  const rows = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, lease_until: past, attempt: 0, status: 'open' }));
  await db('jobs').insert([...rows, { id: 'done', lease_until: past, attempt: 0, status: 'done' }]);
  const claim = () =>
    claimDue<{ id: string; attempt: number }>(db, {
      table: 'jobs',
      key: 'id',
      leaseMs: 60_000,
      limit: 2,
      where: db.raw('status = ?', ['open']),
    });
  const claimed = (await Promise.all([claim(), claim(), claim()])).flat();
  expect(claimed.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(claimed.every(({ attempt }) => attempt === 1)).toBe(true);
  await db('jobs').where({ status: 'open' }).update({ lease_until: past });
  const [again] = await claim();
  const lease = { table: 'jobs', key: 'id', leaseMs: 60_000 };
  expect(await renewLease(db, lease, { id: again?.id ?? '', attempt: 1 })).toBe(false);
  expect(await renewLease(db, lease, { id: again?.id ?? '', attempt: 2 })).toBe(true);
});

test('work that one replica does for all is done by one of those that ask, and again after its interval', async () => {
  const { db } = database;
  const ask = (everyMs: number) => Promise.all([1, 2, 3].map(() => claimTurn(db, 'swept', everyMs)));
  expect((await ask(60_000)).filter(Boolean)).toHaveLength(1);
  expect((await ask(60_000)).filter(Boolean)).toHaveLength(0);
  await db.raw(`update audit_marks set mark = mark - interval '1 minute' where kind = 'swept'`);
  expect((await ask(60_000)).filter(Boolean)).toHaveLength(1);
  // The clock was stepped back since.
  await db.raw(`update audit_marks set mark = mark + interval '1 hour' where kind = 'swept'`);
  expect((await ask(60_000)).filter(Boolean)).toHaveLength(1);
});

test('what needs a session goes its own way past a pooler, with the same password', async () => {
  const [pooled, direct] = await Promise.all([createTestDatabase([]), createTestDatabase([])]);
  const password = decodeURIComponent(new URL(direct.url).password);
  const without = new URL(direct.url);
  without.password = '';
  const env = { DATABASE_URL: pooled.url, DATABASE_SESSION_URL: without.href, DATABASE_PASSWORD: password };
  const connection = databaseConnection(loadConfig(z.object(databaseConfig), env));
  const db = createDb({ ...connection, applicationName: 'test' });
  const session = await openSession(db);
  try {
    const nameOf = (url: string) => new URL(url).pathname.slice(1);
    const ask = 'select current_database() as name';
    expect(await session.query(ask)).toEqual([{ name: nameOf(direct.url) }]);
    expect((await db.raw<{ rows: unknown[] }>(ask)).rows).toEqual([{ name: nameOf(pooled.url) }]);
  } finally {
    await session.close();
    await db.destroy();
    await Promise.all([pooled.drop(), direct.drop()]);
  }
});
