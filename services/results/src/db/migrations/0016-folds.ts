import type { Migration } from '@vision/shared/db/migrate';

/**
 * - `folds`: how far the frames of a task are folded into tracks and hours, and what is not in their rows yet.
 * - `tracks`: tracks that have ended. Partitioned as `frames`, and dropped with it.
 * - `timeline_hours`: coverage and numbers of objects of one hour of frame time. Partitioned in the same way.
 * - `ingests.fold_at`: when the frames of the task are folded next; null while none are behind.
 */
export const folds: Migration = {
  name: '0016-folds',
  up: async (db) => {
    await db.raw(`
      create table if not exists folds (
        task_id uuid primary key,
        seq int not null,
        position bigint not null,
        revision bigint not null,
        state bytea not null
      )`);
    await db.raw(`
      create table if not exists tracks (
        day date not null,
        task_id uuid not null,
        track_id text collate "C" not null,
        label text not null,
        first_time_ms bigint not null,
        last_time_ms bigint not null,
        frames bigint not null,
        best_score int not null,
        changed bigint not null,
        facts bytea not null,
        primary key (task_id, track_id, day)
      ) partition by list (day)`);
    await db.raw(`comment on column tracks.label is 'as JSON writes it, without quotes'`);
    await db.raw(`comment on column tracks.best_score is 'in millionths'`);
    await db.raw(`comment on column tracks.changed is 'position of the last frame that changed or ended the track'`);
    await db.raw('create index if not exists tracks_begun on tracks (task_id, first_time_ms, track_id)');
    await db.raw('create index if not exists tracks_changed on tracks (task_id, changed, track_id)');
    await db.raw(`
      create index if not exists tracks_long on tracks (task_id, first_time_ms, track_id)
       where last_time_ms - first_time_ms > 600000`);
    await db.raw(`
      create table if not exists timeline_hours (
        day date not null,
        task_id uuid not null,
        hour_ms bigint not null,
        coverage bytea not null,
        totals bytea not null,
        minutes bytea not null,
        primary key (task_id, hour_ms, day)
      ) partition by list (day)`);
    // They are compressed already.
    for (const column of ['coverage', 'totals', 'minutes'])
      await db.raw('alter table timeline_hours alter column ?? set storage external', [column]);
    await db.raw('alter table ingests add column if not exists fold_at timestamptz');
  },
  down: async (db) => {
    await db.raw('alter table ingests drop column if exists fold_at');
    await db.raw('drop table if exists folds, tracks, timeline_hours');
  },
};

export const foldsIndex: Migration = {
  name: '0017-folds-index',
  config: { transaction: false },
  up: async (db) => {
    await db.raw('create index concurrently if not exists ingests_fold on ingests (fold_at) where fold_at is not null');
  },
  down: async (db) => {
    await db.raw('drop index if exists ingests_fold');
  },
};
