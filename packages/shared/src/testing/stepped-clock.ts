import type { Knex } from 'knex';

/** The clock of the only connection of a database, which `now()` shows there. */
export interface SteppedClock {
  /** Sets it ahead of the clock of the server by this interval (`1 hour`). */
  step: (ahead: string) => Promise<void>;
}

/** Gives the connection of a pool of one a clock of its own; statements that it was open for see it too. */
export async function steppedClock(db: Knex, ahead: string): Promise<SteppedClock> {
  await db.raw(`
    create schema stepped;
    create table stepped.clock (ahead interval);
    insert into stepped.clock values ('0');
    create function stepped.now() returns timestamptz language sql stable
      as 'select pg_catalog.now() + ahead from stepped.clock';
    set search_path = stepped, pg_catalog, public`);
  const step = async (to: string) => {
    await db.raw('update stepped.clock set ahead = ?::interval', [to]);
  };
  await step(ahead);
  return { step };
}
