import type { Migration } from '@vision/shared/db/migrate';

/** What the backend says it published, so that the audit notices a task of which nothing arrived. */
export const framesPublished: Migration = {
  name: '0005-frames-published',
  up: async (db) => {
    await db.raw('alter table task_views add column if not exists frames_published bigint');
  },
  down: async (db) => {
    await db.raw('alter table task_views drop column if exists frames_published');
  },
};
