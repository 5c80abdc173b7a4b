import type { Migration } from '@vision/shared/db/migrate';

/** `behind_since`: since when a live stream gets fewer frames than its rate. */
export const behindSince: Migration = {
  name: '0008-behind-since',
  up: async (db) => {
    await db.raw('alter table jobs add column behind_since timestamptz');
  },
  down: async (db) => {
    await db.raw('alter table jobs drop column behind_since');
  },
};
