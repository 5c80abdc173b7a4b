import type { Migration } from '@vision/shared/db/migrate';

/** The caller's own name for a camera or an order. */
export const clientRefs: Migration = {
  name: '0009-client-ref',
  up: async (db) => {
    await db.raw('alter table tasks add column if not exists client_ref text');
  },
  down: async (db) => {
    await db.raw('alter table tasks drop column if exists client_ref');
  },
};

/** A caller lists the tasks of one camera among all of his. */
export const tasksByClientRef: Migration = {
  name: '0010-tasks-by-client-ref',
  config: { transaction: false },
  up: async (db) => {
    await db.raw(
      `create index concurrently if not exists tasks_by_client_ref on tasks (subject, client_ref, task_id)
        where client_ref is not null`,
    );
  },
  down: async (db) => {
    await db.raw('drop index if exists tasks_by_client_ref');
  },
};
