import type { Migration } from '@vision/shared/db/migrate';

/**
 * - `frames`: one partition per UTC day on which tasks were created, so that a day is dropped as a whole. The day
 *   follows from the task id, so the primary key makes (task_id, seq) unique although it has to name the partition key.
 * - `ingests`: how far the frames of a task are stored. Its row lock makes writers of one task take turns.
 * - `task_views`: what is known of a task from its events.
 */
export const resultTables: Migration = {
  name: '0001-result-tables',
  up: async (db) => {
    await db.raw(`
      create table if not exists frames (
        day date not null,
        task_id uuid not null,
        seq int not null check (seq >= 0),
        attempt int not null,
        position bigint not null,
        frame_time_ms bigint not null,
        width int not null,
        height int not null,
        objects text not null,
        primary key (task_id, seq, day)
      ) partition by list (day)`);
    await db.raw(
      `comment on column frames.position is 'place in the order of storing within the task; grows, with gaps'`,
    );
    await db.raw(`comment on column frames.objects is 'one JSON object per line, highest score first'`);
    // lz4 stores frames twice as fast as the default and keeps a row with twenty objects inside its page; builds
    // without it exist.
    await db.raw(`
      do $$ begin
        alter table frames alter column objects set compression lz4;
      exception when feature_not_supported then null;
      end $$`);
    await db.raw(`
      create table if not exists ingests (
        task_id uuid primary key,
        attempt int not null default -1,
        stored bigint not null default 0,
        position bigint not null default 0,
        max_seq int not null default -1,
        late_position bigint not null default 0,
        end_status text check (end_status in ('stopped', 'succeeded', 'failed')),
        ended_at timestamptz
      )`);
    await db.raw(
      `comment on column ingests.late_position is 'position of the last frame that was stored after one with a larger seq'`,
    );
    await db.raw(`
      create table if not exists task_views (
        task_id uuid primary key,
        version int not null,
        subject text not null,
        status text not null,
        lower_bound double precision not null,
        default_min_score double precision not null,
        ended_at timestamptz,
        result_expires_at timestamptz not null
      )`);
    await db.raw('create index if not exists task_views_expiry on task_views (result_expires_at)');
    await db.raw(`
      create or replace function results_now() returns timestamptz language sql stable as $$
        select now() + coalesce(nullif(current_setting('results.clock_offset', true), ''), '0')::interval
      $$`);
  },
  down: async (db) => {
    await db.raw('drop table if exists frames, ingests, task_views');
    await db.raw('drop function if exists results_now()');
  },
};
