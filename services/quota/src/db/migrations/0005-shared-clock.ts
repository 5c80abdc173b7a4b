import type { Migration } from '@vision/shared/db/migrate';

/** The ledger goes by the clock that all services share; its functions keep calling `quota_now()`. */
export const sharedLedgerClock: Migration = {
  name: '0005-shared-clock',
  up: async (db) => {
    await db.raw(`
      create or replace function quota_now() returns timestamptz language sql stable as $$ select vision_now() $$`);
  },
  down: async (db) => {
    await db.raw(`
      create or replace function quota_now() returns timestamptz language sql stable as $$ select now() $$`);
  },
};
