import type { Migration } from '@vision/shared/db/migrate';

/** Time without a frame after which a live stream fails, as its caller asked for; null: a time of the backend. */
export const giveUpAfter: Migration = {
  name: '0013-give-up-after',
  up: async (db) => {
    await db.raw('alter table tasks add column if not exists give_up_after_s integer');
  },
  down: async (db) => {
    await db.raw('alter table tasks drop column if exists give_up_after_s');
  },
};
