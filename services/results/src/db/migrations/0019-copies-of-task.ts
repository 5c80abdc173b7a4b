import type { Migration } from '@vision/shared/db/migrate';

/** Finds the copies of one task, which go when its owner deletes it. */
export const copiesOfTask: Migration = {
  name: '0019-copies-of-task',
  // Built beside the writers: with a store that is away there may be many copies.
  config: { transaction: false },
  up: async (db) => {
    await db.raw('create index concurrently if not exists segment_copies_task on segment_copies (task_id)');
  },
  down: async (db) => {
    await db.raw('drop index concurrently if exists segment_copies_task');
  },
};
