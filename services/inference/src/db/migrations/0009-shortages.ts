import type { Migration } from '@vision/shared/db/migrate';

/**
 * `jobs.shortages`: attempts that ended because their worker lacked space or processes. `workers.file_places`: files
 * that a worker takes, null for as many as it has places for.
 */
export const shortages: Migration = {
  name: '0009-shortages',
  up: async (db) => {
    await db.raw('alter table jobs add column shortages integer not null default 0');
    await db.raw('alter table workers add column file_places integer');
  },
  down: async (db) => {
    await db.raw('alter table jobs drop column shortages');
    await db.raw('alter table workers drop column file_places');
  },
};
