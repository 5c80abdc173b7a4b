import type { Migration } from '@vision/shared/db/migrate';

/**
 * - `late_frames`: frames that were stored after frames with larger numbers, by their place. They are few; an index on
 *   the places of all frames would cost every frame that is stored.
 * - `ingests.late_listed`: equals `late_position` when all late frames of the task stand there; those that an earlier
 *   release stored do not.
 */
export const lateFramesTable: Migration = {
  name: '0007-late-frames',
  up: async (db) => {
    await db.raw(`
      create table if not exists late_frames (
        task_id uuid not null,
        position bigint not null,
        seq int not null,
        primary key (task_id, position)
      )`);
    await db.raw('alter table ingests add column if not exists late_listed bigint not null default 0');
  },
  down: async (db) => {
    await db.raw('alter table ingests drop column if exists late_listed');
    await db.raw('drop table if exists late_frames');
  },
};
