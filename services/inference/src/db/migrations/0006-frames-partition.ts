import type { Migration } from '@vision/shared/db/migrate';

/** `frames_partition`: where the messages of the job go, so that they keep their order when partitions are added. */
export const framesPartition: Migration = {
  name: '0006-frames-partition',
  up: async (db) => {
    await db.raw('alter table jobs add column frames_partition int');
  },
  down: async (db) => {
    await db.raw('alter table jobs drop column frames_partition');
  },
};
