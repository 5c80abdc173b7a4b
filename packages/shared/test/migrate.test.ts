import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createDb } from '../src/db/knex.ts';
import { databaseCheck, migrate, migratorConfig, schemaIsCurrent } from '../src/db/migrate.ts';
import type { Migration } from '../src/db/migrate.ts';
import { openSession, tryLock } from '../src/db/session.ts';
import { createTestDatabase } from '../src/testing/postgres.ts';
import type { TestDatabase } from '../src/testing/postgres.ts';
import { until } from '../src/testing/until.ts';

const things: Migration = {
  name: '0001-things',
  up: async (db) => {
    await db.raw('create table things (id int primary key)');
  },
  down: async (db) => {
    await db.raw('drop table things');
  },
};
const indexed: Migration = {
  name: '0002-index',
  config: { transaction: false },
  up: async (db) => {
    await db.raw('create index concurrently things_index on things (id)');
  },
  down: async (db) => {
    await db.raw('drop index things_index');
  },
};
const places: Migration = {
  name: '0003-places',
  up: async (db) => {
    await db.raw('create table places (id int primary key)');
  },
  down: async (db) => {
    await db.raw('drop table places');
  },
};
const all = [things, indexed, places];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase([]);
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.raw('drop schema public cascade; create schema public');
});

const tables = async () => {
  const { rows } = await database.db.raw<{ rows: { tablename: string }[] }>(
    "select tablename from pg_tables where schemaname = 'public' and tablename not like 'schema_migrations%' order by 1",
  );
  return rows.map((row) => row.tablename);
};

test('migrations go up, go up again without effect, and go down to nothing', async () => {
  const { db } = database;
  expect(await schemaIsCurrent(db, all)).toBe(false);
  await migrate(db, all);
  await migrate(db, all);
  expect(await tables()).toEqual(['places', 'things']);
  expect(await schemaIsCurrent(db, all)).toBe(true);
  await db.migrate.rollback(migratorConfig(all), true);
  expect(await tables()).toEqual([]);
  expect(await schemaIsCurrent(db, all)).toBe(false);
  await migrate(db, all);
  expect(await schemaIsCurrent(db, all)).toBe(true);
});

test('several processes that migrate at once apply each migration once', async () => {
  const pools = [1, 2, 3].map((n) => createDb({ url: database.url, poolMax: 2, applicationName: `migrator-${n}` }));
  await Promise.all(pools.map((db) => migrate(db, all)));
  const { rows } = await database.db.raw<{ rows: { count: number }[] }>('select count(*) from schema_migrations');
  expect(rows[0]?.count).toBe(all.length);
  await Promise.all(pools.map((db) => db.destroy()));
});

test('a migration that fails leaves nothing behind and can be repeated', async () => {
  const broken: Migration = {
    ...things,
    up: async (db) => {
      await things.up(db);
      throw new Error('broken');
    },
  };
  await expect(migrate(database.db, [broken])).rejects.toThrow('broken');
  expect(await tables()).toEqual([]);
  await migrate(database.db, [things]);
  expect(await tables()).toEqual(['things']);
});

test('a migrator that was killed in the middle leaves no lock', async () => {
  const db = createDb({ url: database.url, poolMax: 2, applicationName: 'killed' });
  let started = false;
  const hanging: Migration = {
    ...things,
    up: async (tx) => {
      started = true;
      await tx.raw('select pg_sleep(600)');
    },
  };
  const killed = migrate(db, [hanging]).catch((error: unknown) => error);
  await until(() => started);
  await database.db.raw("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'killed'");
  expect(await killed).toBeInstanceOf(Error);
  await db.destroy();
  // What a SIGKILL leaves: the flag of the migration library is still set, the session with the advisory lock is gone.
  await database.db('schema_migrations_lock').update({ is_locked: 1 });
  await migrate(database.db, [things]);
  expect(await tables()).toEqual(['things']);
});

test('a migrator gives up after its patience while another one holds the lock', async () => {
  const session = await openSession(database.db);
  expect(await tryLock(session, 'schema-migrations')).toBe(true);
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  // Each reading of the clock is ten seconds later, so a minute passes in some attempts.
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + (aheadMs += 10_000));
  await expect(migrate(database.db, all)).rejects.toMatchObject({ reason: 'migration_running_elsewhere' });
  clock.mockRestore();
  await session.close();
  await migrate(database.db, all);
  expect(await schemaIsCurrent(database.db, all)).toBe(true);
});

test('an older release sees a newer schema as current', async () => {
  await migrate(database.db, all);
  await migrate(database.db, [things]);
  expect(await schemaIsCurrent(database.db, [things])).toBe(true);
});

test('a start check names what is not migrated, and the address of an unavailable database', async () => {
  const db = createDb({ url: database.url, applicationName: 'check', poolMax: 1 });
  const { ask } = databaseCheck(db, { url: database.url }, [things]);
  expect(await ask()).toEqual({
    kind: 'wrong',
    sentence: expect.stringMatching(/is not migrated: 0001-things is missing/),
  });
  await migrate(database.db, [things]);
  expect(await ask()).toBeUndefined();
  await db.destroy();
  const url = 'postgres://nobody:secret@127.0.0.1:1/none';
  const nowhere = createDb({ url, applicationName: 'early' });
  expect(await databaseCheck(nowhere, { url }, [things]).ask()).toEqual({
    kind: 'away',
    sentence: 'PostgreSQL does not answer at DATABASE_URL (nobody@127.0.0.1:1/none): ECONNREFUSED',
  });
});
