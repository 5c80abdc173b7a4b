import type { Migration } from '@vision/shared/db/migrate';

/** `end_frames`: the frames that the end mark in force speaks of, for the audit; null for marks of earlier releases. */
export const endFrames: Migration = {
  name: '0006-end-frames',
  up: async (db) => {
    await db.raw('alter table ingests add column if not exists end_frames jsonb');
  },
  down: async (db) => {
    await db.raw('alter table ingests drop column if exists end_frames');
  },
};
