import type { Migration } from '@vision/shared/db/migrate';

/**
 * `give_up_after_s`: time without a frame after which the job of a live stream fails; null: SOURCE_GIVE_UP_MS.
 * `away_since`: its last frame, once it was parked for being away; null again with the next frame.
 * `parked_until`: no worker holds the job and none takes it before. A worker of an earlier release does not read it and
 * takes a parked job at once.
 * `parked_attempt`: both hold for this attempt alone. A worker of an earlier release clears neither, but its claim
 * counts up the attempt.
 */
export const away: Migration = {
  name: '0013-away',
  up: async (db) => {
    await db.raw(`
      alter table jobs
        add column if not exists give_up_after_s integer,
        add column if not exists away_since timestamptz,
        add column if not exists parked_until timestamptz,
        add column if not exists parked_attempt integer`);
  },
  down: async (db) => {
    await db.raw(`
      alter table jobs
        drop column if exists give_up_after_s, drop column if exists away_since, drop column if exists parked_until,
        drop column if exists parked_attempt`);
  },
};
