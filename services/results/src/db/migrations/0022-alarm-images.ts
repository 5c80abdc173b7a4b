import type { Migration } from '@vision/shared/db/migrate';

/** `alarm_images`: alarms as they were announced last, while the image of the track that raised them is awaited. */
export const alarmImages: Migration = {
  name: '0022-alarm-images',
  up: async (db) => {
    await db.raw(`
      create table if not exists alarm_images (
        task_id uuid not null,
        track_id text not null,
        alarm_id uuid not null,
        alarm json not null,
        announced_at timestamptz not null default vision_now(),
        primary key (task_id, track_id, alarm_id)
      )`);
    await db.raw('create index if not exists alarm_images_age on alarm_images (announced_at)');
  },
  down: async (db) => {
    await db.raw('drop table if exists alarm_images');
  },
};
