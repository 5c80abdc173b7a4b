import type { Migration } from '@vision/shared/db/migrate';

/** `expired_events`: of each subject, the newest event that retention removed. */
export const expiredEvents: Migration = {
  name: '0003-expired-events',
  up: async (db) => {
    await db.raw(`
      create table if not exists expired_events (
        subject text primary key,
        position bigint not null,
        logged_at timestamptz not null
      )`);
  },
  down: async (db) => {
    await db.raw('drop table if exists expired_events');
  },
};

/**
 * `alarm_rules`: the rules of each subject, with those that were deleted, so that the numbers of their versions go on.
 * `definition` is JSON: what a rule is judged by.
 */
export const alarmRules: Migration = {
  name: '0003-alarm-rules',
  up: async (db) => {
    await db.raw(`
      create table if not exists alarm_rules (
        subject text not null,
        rule_id text not null,
        version bigint not null,
        name text not null,
        definition text not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        deleted_at timestamptz,
        primary key (subject, rule_id)
      )`);
    await db.raw(
      'create index if not exists alarm_rules_deleted on alarm_rules (deleted_at) where deleted_at is not null',
    );
  },
  down: async (db) => {
    await db.raw('drop table if exists alarm_rules');
  },
};

/**
 * `alarms`: each alarm at its newest version, with the verdict of its subject. `position` is the number of its opening
 * in the log of the subject. Every filter of the list has an index that ends with it.
 */
export const alarms: Migration = {
  name: '0003-alarms',
  up: async (db) => {
    await db.raw(`
      create table if not exists alarms (
        alarm_id uuid primary key,
        subject text not null,
        position bigint not null,
        version int not null,
        rule_id text not null,
        task_id uuid not null,
        client_ref text,
        state text not null,
        opened_ms bigint not null,
        data text not null,
        verdict text not null default 'none',
        note text,
        reviewed_at timestamptz,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        unique (subject, position)
      )`);
    await db.raw('create index if not exists alarms_by_rule on alarms (subject, rule_id, position)');
    await db.raw('create index if not exists alarms_by_task on alarms (task_id, position)');
    await db.raw(
      'create index if not exists alarms_by_client_ref on alarms (subject, client_ref, position) where client_ref is not null',
    );
    await db.raw(`create index if not exists alarms_open on alarms (subject, position) where state = 'open'`);
    await db.raw(
      `create index if not exists alarms_by_verdict on alarms (subject, verdict, position) where verdict <> 'none'`,
    );
    await db.raw('create index if not exists alarms_by_time on alarms (subject, opened_ms)');
    await db.raw('create index if not exists alarms_updated_at on alarms (updated_at)');
  },
  down: async (db) => {
    await db.raw('drop table if exists alarms');
  },
};
