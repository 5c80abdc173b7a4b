import type { Migration } from '@vision/shared/db/migrate';

/**
 * `ingests.deleted_at`: when the owner deleted the task. Frames, sources and folds of it are refused from then on, and
 * nothing of it can be read, until the row is removed with its day.
 */
export const deletedTasks: Migration = {
  name: '0017-deleted-tasks',
  up: async (db) => {
    await db.raw('alter table ingests add column if not exists deleted_at timestamptz');
  },
  down: async (db) => {
    await db.raw('alter table ingests drop column if exists deleted_at');
  },
};
