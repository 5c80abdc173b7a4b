import type { Migration } from '@vision/shared/db/migrate';

/**
 * `deleted_tasks`: tasks and image calls that their owners deleted, kept for as long as their results would have been.
 * The row of the task goes before. `confirmed_at`: nothing of it was left in the service that had its results.
 * `tell_at`: next call to that service.
 */
export const deletedTasks: Migration = {
  name: '0012-deleted-tasks',
  up: async (db) => {
    await db.raw(`
      create table if not exists deleted_tasks (
        task_id uuid primary key,
        subject text not null,
        request_key text not null,
        kind text not null check (kind in ('stream', 'upload', 'image')),
        deleted_at timestamptz not null,
        expires_at timestamptz not null,
        confirmed_at timestamptz,
        tell_at timestamptz not null default now()
      )`);
    await db.raw('create index if not exists deleted_tasks_key on deleted_tasks (subject, request_key)');
    await db.raw('create index if not exists deleted_tasks_tell on deleted_tasks (tell_at)');
    await db.raw('create index if not exists deleted_tasks_expiry on deleted_tasks (expires_at)');
    await db.raw(
      'create index if not exists deleted_tasks_unconfirmed on deleted_tasks (deleted_at) where confirmed_at is null',
    );
  },
  down: async (db) => {
    await db.raw('drop table if exists deleted_tasks');
  },
};
