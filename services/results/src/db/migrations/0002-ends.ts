import type { Migration } from '@vision/shared/db/migrate';

/**
 * - `attempt_stored`, `attempt_first`, `attempt_last`: how many frames of the newest attempt are stored, and their
 *   smallest and largest number. The end mark of that attempt is compared with them.
 * - `pending_end`: an end mark whose frames are not all there, until `pending_until`.
 */
export const ends: Migration = {
  name: '0002-ends',
  up: async (db) => {
    await db.raw(`
      alter table ingests
        add column attempt_stored bigint not null default 0,
        add column attempt_first int,
        add column attempt_last int,
        add column pending_end jsonb,
        add column pending_until timestamptz`);
    await db.raw('create index ingests_pending on ingests (pending_until) where pending_until is not null');
  },
  down: async (db) => {
    await db.raw(`
      alter table ingests drop column attempt_stored, drop column attempt_first, drop column attempt_last,
        drop column pending_end, drop column pending_until`);
  },
};
