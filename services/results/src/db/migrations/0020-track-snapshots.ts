import type { Migration } from '@vision/shared/db/migrate';

/**
 * `track_snapshots`: the image of each track that has one. `object_key` is null once the image has expired; the row
 * goes with the task. `task_views.snapshots`: whether images are stored of the task; null when an earlier release
 * stored it.
 */
export const trackSnapshots: Migration = {
  name: '0020-track-snapshots',
  up: async (db) => {
    await db.raw(`
      create table if not exists track_snapshots (
        task_id uuid not null,
        track_id text not null,
        day date not null,
        attempt int not null,
        n int not null,
        seq int not null,
        frame_time_ms bigint not null,
        width int not null,
        height int not null,
        bytes int not null,
        object_key text,
        stored_at timestamptz not null default vision_now(),
        primary key (task_id, track_id)
      )`);
    await db.raw(
      'create index if not exists track_snapshots_age on track_snapshots (stored_at) where object_key is not null',
    );
    await db.raw('alter table task_views add column if not exists snapshots text');
  },
  down: async (db) => {
    await db.raw('alter table task_views drop column if exists snapshots');
    await db.raw('drop table if exists track_snapshots');
  },
};
