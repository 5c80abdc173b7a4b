import type { Migration } from '@vision/shared/db/migrate';

/** `task_states.deleted_at`: when the owner deleted the task. The log has no events of it from then on. */
export const deletedTasks: Migration = {
  name: '0002-deleted-tasks',
  up: async (db) => {
    await db.raw('alter table task_states add column if not exists deleted_at timestamptz');
  },
  down: async (db) => {
    await db.raw('alter table task_states drop column if exists deleted_at');
  },
};

/** Finds the events of a task that is deleted. */
export const eventsByTask: Migration = {
  name: '0003-events-by-task',
  config: { transaction: false },
  up: async (db) => {
    await db.raw('create index concurrently if not exists events_by_task on events (task_id)');
  },
  down: async (db) => {
    await db.raw('drop index if exists events_by_task');
  },
};
