import type { Knex } from 'knex';
import type { Migration } from './migrate.ts';

/**
 * The clock that days and expiry go by: `vision_now()` is `now()` of the database plus the session setting
 * `vision.clock_offset`. Replicas with wrong clocks agree, and a test looks at days that have not come by `createDb({
 * clockOffset })`. Every service whose SQL says `vision_now()` puts this into its list of migrations. Leases and due
 * times are not shifted: they say `now()`.
 */
export const clockMigration: Migration = {
  name: 'shared-clock',
  up: async (db) => {
    await db.raw(`
      create or replace function vision_now() returns timestamptz language sql stable as $$
        select now() + coalesce(nullif(current_setting('vision.clock_offset', true), ''), '0')::interval
      $$`);
  },
  down: async (db) => {
    await db.raw('drop function if exists vision_now()');
  },
};

/**
 * The instant of `vision_now()`, for code that compares stored dates itself. Inside a transaction it is
 * the transaction's start.
 */
export async function databaseNow(db: Knex): Promise<Date> {
  const result = await db.raw<{ rows: { now: Date }[] }>('select vision_now() as now');
  const [row] = result.rows;
  if (!row) throw new Error('the database told no time');
  return row.now;
}
