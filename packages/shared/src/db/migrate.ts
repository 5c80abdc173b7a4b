import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { fail } from '@vision/contracts/errors';
import { FaultError, wrong } from '../start/fault.ts';
import type { StartCheck } from '../start/start-checks.ts';
import { databaseFault } from './database-fault.ts';
import { createDb } from './knex.ts';
import type { DatabaseConnection } from './knex.ts';
import { openSession, tryLock } from './session.ts';

/** One step of the schema. The name is recorded in the database and never changes: `0001-tasks`. */
export interface Migration {
  name: string;
  up: (db: Knex) => Promise<void>;
  down: (db: Knex) => Promise<void>;
  /**
   * Marks the second half of a change: what it removes has not been used since this release, so the release before this
   * one runs on without it.
   */
  contracts?: { unusedSince: string };
  /** `{ transaction: false }` for what PostgreSQL refuses inside a transaction, e.g. `create index concurrently`. */
  config?: { transaction: boolean };
}

/**
 * Brings the schema up to the end of the list. Several processes may call it at once: one works, the others wait for
 * it. The guard is an advisory lock of a session of its own, so a killed migration leaves no lock behind.
 * @throws AppError of kind `unavailable` when another process holds the lock for longer than a minute.
 */
export async function migrate(db: Knex, migrations: Migration[]): Promise<void> {
  await underLock(db, () => migrateAlone(db, migrations));
}

/** The same for a database that no other process uses. */
export async function migrateAlone(db: Knex, migrations: readonly Migration[]): Promise<void> {
  await db.migrate.latest(migratorConfig(migrations));
}

/**
 * Connects to the database of a service for the time of `migrate`. No statement is cut short.
 * @throws FaultError when the database cannot be used as its settings say.
 */
export async function migrateOnce(
  connection: DatabaseConnection,
  service: string,
  migrations: Migration[],
): Promise<void> {
  const applicationName = `${service}-migrate`;
  const db = createDb({ ...connection, poolMax: 2, applicationName, statementTimeoutMs: 0 });
  try {
    await migrate(db, migrations);
  } catch (error) {
    const fault = databaseFault(error, connection.url);
    throw fault ? new FaultError(fault, { cause: error }) : error;
  } finally {
    await db.destroy();
  }
}

/** Whether every migration of the list is applied. Newer migrations than the list are fine. */
export async function schemaIsCurrent(db: Knex, migrations: Migration[]): Promise<boolean> {
  return (await missingMigrations(db, migrations)).length === 0;
}

/** What a process asks its database at its start: whether it is let in, and whether the schema is complete. */
export function databaseCheck(db: Knex, { url }: DatabaseConnection, migrations: Migration[]): StartCheck {
  return {
    name: 'database',
    readyWhileAway: false,
    ask: async () => {
      try {
        const [missing] = await missingMigrations(db, migrations);
        if (missing === undefined) return undefined;
        const { host, pathname } = new URL(url);
        const which = `The database ${pathname.slice(1)} of DATABASE_URL (${host})`;
        return wrong(`${which} is not migrated: ${missing} is missing; run "main.js migrate" of this release`);
      } catch (error) {
        const fault = databaseFault(error, url);
        if (fault) return fault;
        throw error;
      }
    },
  };
}

async function missingMigrations(db: Knex, migrations: Migration[]): Promise<string[]> {
  const names = migrations.map(({ name }) => name);
  if (!(await db.schema.hasTable(TABLE))) return names;
  const rows = await db(TABLE).select<{ name: string }[]>('name');
  const applied = new Set(rows.map((row) => row.name));
  return names.filter((name) => !applied.has(name));
}

const TABLE = 'schema_migrations';
/** Longest wait for another process that migrates. */
const LOCK_WAIT_MS = 60_000;

async function underLock(db: Knex, work: () => Promise<void>): Promise<void> {
  const session = await openSession(db);
  try {
    const deadline = performance.now() + LOCK_WAIT_MS;
    while (!(await tryLock(session, 'schema-migrations'))) {
      if (performance.now() > deadline) throw fail.sysUnavailable('migration_running_elsewhere');
      await delay(100);
    }
    // The holder of the advisory lock is alone, so a set flag in knex' own lock table can only be left from
    // a killed run.
    await db.migrate.forceFreeMigrationsLock(migratorConfig([]));
    await work();
  } finally {
    await session.close();
  }
}

/** How knex applies a list of migrations, and takes it back. */
export function migratorConfig(migrations: readonly Migration[]): Knex.MigratorConfig {
  return {
    tableName: TABLE,
    // An older release may run against a newer schema during a rollout; it ignores applied migrations that it
    // does not know.
    disableMigrationsListValidation: true,
    migrationSource: {
      getMigrations: () => Promise.resolve([...migrations]),
      getMigrationName: (migration: Migration) => migration.name,
      getMigration: (migration: Migration) => Promise.resolve(migration),
    },
  };
}
