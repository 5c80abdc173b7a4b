import type { Migration } from '@vision/shared/db/migrate';

/**
 * Creates that ask for a place at the backend. A row is there for seconds: while its create waits, and until the
 * backend counts the job by itself. What a dead process leaves runs out.
 */
export const placeClaims: Migration = {
  name: '0007-place-claims',
  up: async (db) => {
    await db.raw(`
      create table place_claims (
        task_id uuid primary key,
        subject text not null,
        kind text not null check (kind in ('stream', 'upload')),
        -- Subjects share the places in proportion to it.
        weight integer not null check (weight > 0),
        asked_at timestamptz not null default clock_timestamp(),
        granted_at timestamptz,
        expires_at timestamptz not null
      )`);
  },
  down: async (db) => {
    await db.raw('drop table place_claims');
  },
};
