import type { Migration } from '@vision/shared/db/migrate';

/**
 * `snapshots`: the caller wants images of the video. `snapshot_wanted_until`: its newest frame was asked for.
 * `live_snapshots` holds the newest frame of jobs that were; unlogged, because a frame is worthless after seconds and a
 * backup must not hold it.
 */
export const snapshots: Migration = {
  name: '0012-snapshots',
  up: async (db) => {
    await db.raw(`
      alter table jobs
        add column snapshots boolean not null default false,
        add column snapshot_wanted_until timestamptz`);
    await db.raw(`
      create unlogged table live_snapshots (
        job_id uuid primary key,
        claim uuid not null,
        jpeg bytea not null,
        width int not null,
        height int not null,
        frame_time_ms bigint not null,
        taken_at timestamptz not null
      )`);
    await db.raw('alter table live_snapshots alter column jpeg set storage external');
  },
  down: async (db) => {
    await db.raw('drop table live_snapshots');
    await db.raw('alter table jobs drop column snapshots, drop column snapshot_wanted_until');
  },
};
