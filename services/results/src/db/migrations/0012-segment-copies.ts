import type { Migration } from '@vision/shared/db/migrate';

/**
 * `segment_copies`: bodies of segments whose object was not read back yet. A copy goes when its object was read and
 * is what was sent; until then a lost or damaged object is written again from it.
 */
export const segmentCopies: Migration = {
  name: '0012-segment-copies',
  up: async (db) => {
    await db.raw(`
      create table if not exists segment_copies (
        object_key text primary key,
        task_id uuid not null,
        day date not null,
        bytes int not null,
        checksum bigint not null,
        body bytea not null,
        stored_at timestamptz not null default now(),
        lease_until timestamptz not null default now() + interval '1 minute',
        attempt int not null default 0
      )`);
    // It is compressed already.
    await db.raw('alter table segment_copies alter column body set storage external');
    await db.raw('create index if not exists segment_copies_due on segment_copies (lease_until)');
    await db.raw('create index if not exists segment_copies_stored on segment_copies (stored_at)');
  },
  down: async (db) => {
    await db.raw('drop table if exists segment_copies');
  },
};
