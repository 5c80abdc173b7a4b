import type { Migration } from '@vision/shared/db/migrate';

/**
 * `sources`: the newest snapshot of the source of each task, with the counts of its earlier attempts. `source_states`:
 * the states that it had. `task_views.kind`, `task_views.reason`: what the source is, and why the task failed; null
 * when an earlier release stored the task.
 */
export const sources: Migration = {
  name: '0014-sources',
  up: async (db) => {
    await db.raw(`
      create table if not exists sources (
        task_id uuid primary key,
        attempt int not null,
        n int not null,
        snapshot jsonb not null,
        earlier jsonb not null,
        states int not null,
        updated_at timestamptz not null default now()
      )`);
    await db.raw(`
      create table if not exists source_states (
        task_id uuid not null,
        attempt int not null,
        n int not null,
        at_ms bigint not null,
        state text not null,
        reason text,
        primary key (task_id, attempt, n)
      )`);
    await db.raw('alter table task_views add column if not exists kind text, add column if not exists reason text');
  },
  down: async (db) => {
    await db.raw('alter table task_views drop column if exists kind, drop column if exists reason');
    await db.raw('drop table if exists source_states');
    await db.raw('drop table if exists sources');
  },
};
