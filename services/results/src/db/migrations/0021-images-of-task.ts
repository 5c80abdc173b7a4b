import type { Migration } from '@vision/shared/db/migrate';

/** Finds the images of one task among the objects that are listed as unused; their keys end `<task>/<image>`. */
export const imagesOfTask: Migration = {
  name: '0021-images-of-task',
  // Built beside the writers: with a long grace there may be many objects.
  config: { transaction: false },
  up: async (db) => {
    await db.raw(`
      create index concurrently if not exists unindexed_objects_task
          on unindexed_objects (split_part(object_key, '/', -2)) where starts_with(object_key, 'track-snapshots/')`);
  },
  down: async (db) => {
    await db.raw('drop index concurrently if exists unindexed_objects_task');
  },
};
