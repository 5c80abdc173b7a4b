import type { Migration } from '@vision/shared/db/migrate';

/**
 * `subject_logs`: how far the log of each subject is numbered. Its row is locked while an event is appended, so events
 * become visible in the order of their numbers. `events`: the logs. `task_states`: the newest version of each task that
 * the log has seen.
 */
export const eventLog: Migration = {
  name: '0001-event-log',
  up: async (db) => {
    // Updated with every event and never in an index: room in every page keeps the updates inside it.
    await db.raw(`
      create table if not exists subject_logs (
        subject text primary key,
        position bigint not null
      ) with (fillfactor = 40)`);
    await db.raw(`
      create table if not exists events (
        subject text not null,
        position bigint not null,
        event_id uuid not null unique,
        type text not null,
        task_id uuid,
        occurred_at timestamptz not null,
        data text not null,
        logged_at timestamptz not null default vision_now(),
        primary key (subject, position)
      )`);
    await db.raw('create index if not exists events_by_type on events (subject, type, position)');
    await db.raw('create index if not exists events_logged_at on events (logged_at)');
    await db.raw(`
      create table if not exists task_states (
        task_id uuid primary key,
        version int not null,
        status text not null,
        updated_at timestamptz not null
      )`);
    await db.raw('create index if not exists task_states_updated_at on task_states (updated_at)');
  },
  down: async (db) => {
    await db.raw('drop table if exists task_states, events, subject_logs');
  },
};
