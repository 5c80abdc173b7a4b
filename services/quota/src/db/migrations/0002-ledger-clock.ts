import type { Migration } from '@vision/shared/db/migrate';

/**
 * The database clock decides, so replicas with wrong clocks agree. `quota.clock_offset` is there for tests; nothing
 * else sets it.
 */
export const ledgerClock: Migration = {
  name: '0002-ledger-clock',
  up: async (db) => {
    await db.raw(`
      create or replace function quota_now() returns timestamptz language sql stable as $$
        select now() + coalesce(nullif(current_setting('quota.clock_offset', true), ''), '0')::interval
      $$;
      create or replace function quota_today() returns date language sql stable as $$
        select (quota_now() at time zone 'Asia/Shanghai')::date
      $$`);
  },
  down: async (db) => {
    await db.raw('drop function if exists quota_today, quota_now');
  },
};
