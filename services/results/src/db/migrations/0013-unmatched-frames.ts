import type { Migration } from '@vision/shared/db/migrate';

/**
 * `ingests.unmatched_frames`: frames that were written in the form in which they are read, less those that were counted
 * in `stored`, in the same transactions. 0 unless something is wrong. A release that does not know the column changes
 * neither side of it.
 */
export const unmatchedFrames: Migration = {
  name: '0013-unmatched-frames',
  up: async (db) => {
    await db.raw('alter table ingests add column if not exists unmatched_frames bigint not null default 0');
  },
  down: async (db) => {
    await db.raw('alter table ingests drop column if exists unmatched_frames');
  },
};
