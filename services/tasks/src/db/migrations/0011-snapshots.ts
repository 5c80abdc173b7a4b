import type { Migration } from '@vision/shared/db/migrate';

/** Whether images of the video were wanted when the task was created; null: created by a release without them. */
export const snapshots: Migration = {
  name: '0011-snapshots',
  up: async (db) => {
    await db.raw('alter table tasks add column if not exists snapshots text');
  },
  down: async (db) => {
    await db.raw('alter table tasks drop column if exists snapshots');
  },
};
