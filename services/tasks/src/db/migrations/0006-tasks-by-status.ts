import type { Migration } from '@vision/shared/db/migrate';

/** Operators list tasks of one state over all subjects; few of many are in most states. */
export const tasksByStatus: Migration = {
  name: '0006-tasks-by-status',
  config: { transaction: false },
  up: async (db) => {
    await db.raw('create index concurrently if not exists tasks_by_status on tasks (status, task_id)');
  },
  down: async (db) => {
    await db.raw('drop index if exists tasks_by_status');
  },
};
