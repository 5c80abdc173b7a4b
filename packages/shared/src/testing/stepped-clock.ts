import type { Migration } from '../db/migrate.ts';
import { createTestDatabase } from './postgres.ts';
import type { TestDatabase } from './postgres.ts';

/** A database whose only connection sees a clock that the test sets. */
export interface SteppedDatabase extends TestDatabase {
  /** Sets what `now()` shows ahead of the clock of the server by this interval (`1 hour`). */
  step: (ahead: string) => Promise<void>;
}

/** Makes such a database; its clock begins ahead by this interval. */
export async function createSteppedDatabase(migrations: Migration[], ahead: string): Promise<SteppedDatabase> {
  const database = await createTestDatabase(migrations, { poolMax: 1 });
  await database.db.raw(`
    create schema stepped;
    create table stepped.clock (ahead interval);
    insert into stepped.clock values ('0');
    create function stepped.now() returns timestamptz language sql stable
      as 'select pg_catalog.now() + ahead from stepped.clock';
    set search_path = stepped, pg_catalog, public`);
  const step = async (to: string) => {
    await database.db.raw('update stepped.clock set ahead = ?::interval', [to]);
  };
  await step(ahead);
  return { ...database, step };
}
