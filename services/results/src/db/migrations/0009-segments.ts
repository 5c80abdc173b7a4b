import type { Migration } from '@vision/shared/db/migrate';

/**
 * - `segments`: runs of frames of one task. `heads` has everything of the frames but their objects; those are in `body`
 *   while they are young, later in the object named by `object_key`. Partitioned as `frames`, and dropped with it.
 * - `unindexed_objects`: objects that are on their way to the store. One that became part of a segment is taken off in
 *   the same transaction, so an entry that stays here has to be removed.
 * - `ingests.compact_at`: when the young frames of the task are looked at next; null when it has none.
 */
export const segments: Migration = {
  name: '0009-segments',
  up: async (db) => {
    await db.raw(`
      create table if not exists segments (
        day date not null,
        task_id uuid not null,
        first_seq int not null,
        last_seq int not null,
        id uuid not null default gen_random_uuid(),
        first_position bigint not null,
        last_position bigint not null,
        first_time_ms bigint not null,
        last_time_ms bigint not null,
        frames int not null,
        attempts jsonb not null,
        labels text[],
        best_score double precision,
        revision int not null default 0,
        heads bytea not null,
        body bytea,
        object_key text,
        bytes int not null,
        checksum bigint not null,
        created_at timestamptz not null default now(),
        primary key (task_id, first_seq, id, day),
        check (last_seq - first_seq between 0 and 2047),
        check ((body is null) <> (object_key is null))
      ) partition by list (day)`);
    await db.raw(
      `comment on column segments.attempts is 'of each attempt: number of its frames, smallest and largest of their numbers'`,
    );
    await db.raw(`comment on column segments.labels is 'as JSON writes them; null when they are many'`);
    await db.raw(`comment on column segments.revision is 'grows when a newer attempt takes frames over'`);
    // Both are compressed already.
    for (const column of ['heads', 'body'])
      await db.raw('alter table segments alter column ?? set storage external', [column]);
    await db.raw(
      'create index if not exists segments_young on segments (task_id, first_seq, id) where body is not null',
    );
    await db.raw('create index if not exists segments_made on segments (created_at) where object_key is not null');
    await db.raw(`
      create table if not exists unindexed_objects (
        object_key text primary key,
        day date not null,
        noted_at timestamptz not null default now()
      )`);
    await db.raw('create index if not exists unindexed_objects_noted on unindexed_objects (noted_at)');
    await db.raw('alter table ingests add column if not exists compact_at timestamptz');
  },
  down: async (db) => {
    await db.raw('alter table ingests drop column if exists compact_at');
    await db.raw('drop table if exists segments, unindexed_objects');
  },
};

export const segmentsIndex: Migration = {
  name: '0010-segments-index',
  config: { transaction: false },
  up: async (db) => {
    await db.raw(`
      create index concurrently if not exists ingests_compact on ingests (compact_at) where compact_at is not null`);
  },
  down: async (db) => {
    await db.raw('drop index if exists ingests_compact');
  },
};
