import type { Migration } from '@vision/shared/db/migrate';

/**
 * - `alarm_rules`: the newest version of each alarm rule, deleted ones included, so that an older version changes
 *   nothing.
 * - `folds.rules`: where the rules of the task are, as of the same frames as `folds.state`.
 * - `ingests.rule_set`: the rules of the task: null or 0 none, above it a hash of them, below it: to be looked up.
 * - `task_views.client_ref`, `task_views.scene_code`: null when an earlier release stored the task.
 */
export const alarmRules: Migration = {
  name: '0018-alarm-rules',
  up: async (db) => {
    await db.raw(`
      create table if not exists alarm_rules (
        subject text not null,
        rule_id text collate "C" not null,
        version bigint not null,
        is_active boolean not null,
        is_deleted boolean not null,
        rule json not null,
        stored_at timestamptz not null default now(),
        primary key (subject, rule_id)
      )`);
    await db.raw('alter table folds add column if not exists rules bytea');
    await db.raw('alter table ingests add column if not exists rule_set bigint');
    await db.raw(
      'alter table task_views add column if not exists client_ref text, add column if not exists scene_code text',
    );
  },
  down: async (db) => {
    await db.raw('alter table task_views drop column if exists client_ref, drop column if exists scene_code');
    await db.raw('alter table ingests drop column if exists rule_set');
    await db.raw('alter table folds drop column if exists rules');
    await db.raw('drop table if exists alarm_rules');
  },
};

/** Finds the tasks of a subject whose rules have changed. */
export const viewsOfSubject: Migration = {
  name: '0018-views-of-subject',
  config: { transaction: false },
  up: async (db) => {
    await db.raw(`
      create index concurrently if not exists task_views_running on task_views (subject, task_id)
       where ended_at is null`);
  },
  down: async (db) => {
    await db.raw('drop index if exists task_views_running');
  },
};
