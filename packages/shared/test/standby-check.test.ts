import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDb } from '../src/db/knex.ts';
import { standbyCheck } from '../src/db/standby-check.ts';
import { createLogger } from '../src/logger.ts';
import { CHECK_INTERVAL_MS, createStartChecks } from '../src/start/start-checks.ts';
import { testMetrics } from '../src/testing/metrics.ts';
import { createTestDatabase } from '../src/testing/postgres.ts';
import type { TestDatabase } from '../src/testing/postgres.ts';

const metrics = testMetrics();
let database: TestDatabase;
let db: Knex;

beforeEach(async () => {
  database = await createTestDatabase([]);
  db = createDb({ url: database.url, applicationName: 'standby-check' });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

const alter = (setting: string) =>
  database.db.raw(`alter database ${new URL(database.url).pathname.slice(1)} set ${setting}`);

/** The test server has no standby, and its setting is that of all databases. */
async function pretendStandby(): Promise<void> {
  await database.db.raw(`
    create schema pretended;
    create function pretended.current_setting(name text) returns text language sql as
      $$ select case name when 'synchronous_standby_names' then 'ANY 1 (b)' else pg_catalog.current_setting(name) end $$`);
  await alter('search_path = pretended, pg_catalog, public');
}

test('a database without a synchronous standby is a risk, which a setting makes a fault', async () => {
  const risk = await standbyCheck(db, { DATABASE_STANDBY: 'warn' }).ask();
  expect(risk).toEqual({
    kind: 'risk',
    sentence: expect.stringMatching(/loses commits that were confirmed: synchronous_standby_names is empty/),
  });
  expect(await metrics.sumOf('vision.db.synchronous')).toBe(0);
  expect(await standbyCheck(db, { DATABASE_STANDBY: 'require' }).ask()).toMatchObject({ kind: 'wrong' });
  expect(await standbyCheck(db, { DATABASE_STANDBY: 'managed' }).ask()).toBeUndefined();
});

test('a standby that commits do not wait for is none', async () => {
  await pretendStandby();
  await alter('synchronous_commit = local');
  expect(await standbyCheck(db, { DATABASE_STANDBY: 'require' }).ask()).toMatchObject({
    sentence: expect.stringContaining('synchronous_commit is local'),
  });
});

test('with a standby that commits wait for there is nothing to say', async () => {
  await pretendStandby();
  expect(await standbyCheck(db, { DATABASE_STANDBY: 'require' }).ask()).toBeUndefined();
  expect(await metrics.sumOf('vision.db.synchronous')).toBe(1);
});

test('a risk is one warning, and the process is ready', async () => {
  const lines: string[] = [];
  const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });
  const checks = createStartChecks([standbyCheck(db, { DATABASE_STANDBY: 'warn' })], logger, CHECK_INTERVAL_MS);
  await checks.start();
  expect(checks.problems()).toEqual([]);
  await checks.stop();
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 'warn', store: 'standby', fault: 'risk', msg: expect.stringContaining('DATABASE_STANDBY') },
  ]);
});
