import { createHash, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Knex } from 'knex';
import { Client } from 'pg';
import { createDb } from '../db/knex.ts';
import type { DbOptions } from '../db/knex.ts';
import { migrate } from '../db/migrate.ts';
import type { Migration } from '../db/migrate.ts';
import { testAddress } from './environment.ts';

export interface TestDatabase {
  url: string;
  db: Knex;
  /** Closes the pool and removes the database, also under connections that a test forgot. */
  drop: () => Promise<void>;
}

export type TestDatabaseOptions = Pick<DbOptions, 'poolMax'>;

/**
 * A fresh database with all migrations applied: cloned from a template that is migrated once per state of the list,
 * which costs milliseconds. Databases that crashed runs left behind are removed on the way.
 */
export async function createTestDatabase(
  migrations: Migration[],
  { poolMax = 5 }: TestDatabaseOptions = {},
): Promise<TestDatabase> {
  const name = `vision_test_${Date.now().toString(36)}_${randomBytes(4).toString('hex')}`;
  await withServer(async (server) => {
    await dropStale(server);
    const template = await ensureTemplate(server, migrations);
    await server.query(`create database ${name} template ${template}`);
  });
  const url = urlOf(name);
  const db = createDb({ url: patientUrl(url), poolMax, applicationName: name, ...patient });
  return {
    url,
    db,
    drop: async () => {
      await db.destroy();
      await withServer(async (server) => {
        await server.query(`drop database if exists ${name} with (force)`);
      });
    },
  };
}

/**
 * Those of another service, for one that tests run beside their own: a process that migrates costs as much as one that
 * serves.
 */
export async function migrationsOf(service: string): Promise<Migration[]> {
  const list = new URL(`../../../../services/${service}/src/db/migrations/list.ts`, import.meta.url);
  const { migrations } = (await import(fileURLToPath(list))) as { migrations: Migration[] };
  return migrations;
}

const STALE_MS = 60 * 60_000;

/**
 * Of the statements of a test itself: it holds transactions open, and waits for locks, until what it watches has come
 * about. The limits of a service would end these on a busy machine; the test runner ends what hangs.
 */
const PATIENCE_MS = 180_000;
const patient = {
  statementTimeoutMs: PATIENCE_MS,
  acquireTimeoutMs: PATIENCE_MS,
};

/** An address says more than the limits of a service. */
function patientUrl(address: string): string {
  const url = new URL(address);
  for (const limit of ['idle_in_transaction_session_timeout', 'lock_timeout'])
    url.searchParams.set(limit, String(PATIENCE_MS));
  return url.href;
}

async function ensureTemplate(server: Client, migrations: Migration[]): Promise<string> {
  const state = [OWNER, ...migrations.map(({ name, up }) => `${name}\n${up.toString()}`)].join('\n');
  const name = `vision_template_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
  // Test files run in several processes; one builds the template under a name of its own, the others wait and find it.
  await server.query('select pg_advisory_lock(hashtextextended($1, 0))', ['vision-test-template']);
  try {
    if (!(await exists(server, name))) {
      const draft = `${name}_draft`;
      await server.query(`drop database if exists ${draft} with (force)`);
      await ensureOwner(server);
      await server.query(`create database ${draft} owner ${OWNER}`);
      const db = createDb({ url: asOwner(patientUrl(urlOf(draft))), poolMax: 2, applicationName: draft, ...patient });
      await migrate(db, migrations).finally(() => db.destroy());
      await server.query(`alter database ${draft} rename to ${name}`);
    }
  } finally {
    await server.query('select pg_advisory_unlock(hashtextextended($1, 0))', ['vision-test-template']);
  }
  return name;
}

/** Migrations run as where services are deployed: by a role that owns its database and may do nothing else. */
const OWNER = 'vision_test_owner';

async function ensureOwner(server: Client): Promise<void> {
  const { rows } = await server.query('select 1 from pg_roles where rolname = $1', [OWNER]);
  if (rows.length === 0) await server.query(`create role ${OWNER}`);
}

function asOwner(address: string): string {
  const url = new URL(address);
  url.searchParams.set('options', `-c role=${OWNER}`);
  return url.href;
}

async function exists(server: Client, name: string): Promise<boolean> {
  return (await server.query('select 1 from pg_database where datname = $1', [name])).rows.length === 1;
}

async function dropStale(server: Client): Promise<void> {
  const { rows } = await server.query<{ datname: string }>(
    String.raw`select datname from pg_database where datname like 'vision\_test\_%'`,
  );
  for (const { datname } of rows) {
    const createdAt = parseInt(datname.split('_')[2] ?? '', 36);
    if (Date.now() - createdAt > STALE_MS) await server.query(`drop database if exists ${datname} with (force)`);
  }
}

async function withServer<T>(work: (server: Client) => Promise<T>): Promise<T> {
  const server = new Client({ connectionString: testAddress('TEST_DATABASE_URL') });
  await server.connect();
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}

function urlOf(database: string): string {
  const url = new URL(testAddress('TEST_DATABASE_URL'));
  url.pathname = `/${database}`;
  return url.href;
}
