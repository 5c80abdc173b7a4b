import type { Migration } from '@vision/shared/db/migrate';

/** Submissions by time, so that the audit finds those that are new. */
export const submissionsByTime: Migration = {
  name: '0005-audit',
  config: { transaction: false },
  up: async (db) => {
    await db.raw(`
      create index concurrently if not exists task_moves_submitted on task_moves (at) where to_status = 'submitting'`);
  },
  down: async (db) => {
    await db.raw('drop index if exists task_moves_submitted');
  },
};
