import type { Migration } from '@vision/shared/db/migrate';

/** `live_places`: live streams among the jobs that a worker takes; null for workers of an earlier release. */
export const livePlaces: Migration = {
  name: '0007-live-places',
  up: async (db) => {
    await db.raw('alter table workers add column live_places integer');
  },
  down: async (db) => {
    await db.raw('alter table workers drop column live_places');
  },
};
