import type { Migration } from '@vision/shared/db/migrate';

/** When a view was changed, so that the audit finds tasks that ended. */
export const viewChanges: Migration = {
  name: '0003-audit',
  up: async (db) => {
    await db.raw('alter table task_views add column if not exists changed_at timestamptz not null default now()');
    await db.raw(`
      create or replace function note_view_change() returns trigger language plpgsql as $$
      begin
        new.changed_at = now();
        return new;
      end $$`);
    await db.raw(`
      create or replace trigger task_views_changed before insert or update on task_views
        for each row execute function note_view_change()`);
  },
  down: async (db) => {
    await db.raw('drop trigger if exists task_views_changed on task_views');
    await db.raw('drop function if exists note_view_change');
    await db.raw('alter table task_views drop column if exists changed_at');
  },
};

export const viewChangesIndex: Migration = {
  name: '0004-audit-index',
  config: { transaction: false },
  up: async (db) => {
    await db.raw(`
      create index concurrently if not exists task_views_ended on task_views (changed_at) where ended_at is not null`);
  },
  down: async (db) => {
    await db.raw('drop index if exists task_views_ended');
  },
};
