import type { Migration } from '@vision/shared/db/migrate';

/**
 * `removed_events`: numbers of events that went with their tasks. A number that is neither here nor in the log, nor
 * expired, was lost with the log.
 */
export const removedEvents: Migration = {
  name: '0008-removed-events',
  up: async (db) => {
    await db.raw(`
      create table if not exists removed_events (
        subject text not null,
        position bigint not null,
        removed_at timestamptz not null default vision_now(),
        primary key (subject, position)
      )`);
    await db.raw('create index if not exists removed_events_removed_at on removed_events (removed_at)');
  },
  down: async (db) => {
    await db.raw('drop table if exists removed_events');
  },
};
