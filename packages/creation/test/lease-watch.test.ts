import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clockMigration } from '@vision/shared/db/clock';
import type { Migration } from '@vision/shared/db/migrate';
import { createLogger } from '@vision/shared/logger';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { createLeaseWatch, leaseWatchMigration, leaveSign } from '../src/lease-watch.ts';

const things: Migration = {
  name: '0001-things',
  up: async (db) => {
    await db.raw('create table things (id text primary key, n bigint not null)');
  },
  down: async (db) => {
    await db.raw('drop table things');
  },
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase([things, clockMigration, leaseWatchMigration]);
});
afterAll(() => database.drop());

test('leases are taken over while heartbeats come, and after a gap in them not for one lease', async () => {
  const { db } = database;
  const mayTakeOver = async () => {
    const { rows } = await db.raw<{ rows: { allowed: boolean }[] }>('select may_take_over() as allowed');
    return rows[0]?.allowed;
  };
  const signWasLeft = (secondsAgo: number) =>
    db.raw(
      `update lease_watch set seen_at = now() - make_interval(secs => :ago), take_over_from = '-infinity',
              valid_until = now() - make_interval(secs => :ago) + interval '20 seconds'`,
      { ago: secondsAgo },
    );
  const isGap = async () => (await leaveSign(db, { leaseMs: 60_000, dead: 'false', dueWork: [] })).isGap;
  // The sign is good for ten seconds more, which is enough for a busy machine.
  await signWasLeft(10);
  expect(await isGap()).toBe(false);
  expect(await mayTakeOver()).toBe(true);
  await signWasLeft(21);
  expect(await mayTakeOver()).toBe(false);
  expect(await isGap()).toBe(true);
  expect(await isGap()).toBe(false);
  expect(await mayTakeOver()).toBe(false);
  await db.raw(`update lease_watch set take_over_from = take_over_from - interval '1 minute'`);
  expect(await mayTakeOver()).toBe(true);
  // The clock of the database was stepped back, or another server took its place.
  await signWasLeft(-3600);
  expect(await isGap()).toBe(true);
});

test('a heartbeat wakes the processes that have work, and no others', async () => {
  const { db } = database;
  await db('things').insert({ id: 'work', n: 1 });
  const woken = { some: 0, none: 0 };
  const watch = createLeaseWatch({
    db,
    logger: createLogger('test', 'silent'),
    leaseMs: 60,
    dead: 'false',
    dueWork: [
      { isDue: `exists (select from things where id = 'nothing')`, wake: () => void (woken.none += 1) },
      { isDue: `exists (select from things where id = 'work')`, wake: () => void (woken.some += 1) },
    ],
  });
  watch.start();
  await until(() => woken.some > 1);
  await db('things').where({ id: 'work' }).delete();
  await watch.stop();
  expect(woken.none).toBe(0);
});
