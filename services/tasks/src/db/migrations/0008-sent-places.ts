import type { Migration } from '@vision/shared/db/migrate';

/** `sent_at`: every answer of the backend that was asked for later counts the job; null until it was sent. */
export const sentPlaces: Migration = {
  name: '0008-sent-places',
  up: async (db) => {
    await db.raw('alter table place_claims add column sent_at timestamptz');
  },
  down: async (db) => {
    await db.raw('alter table place_claims drop column sent_at');
  },
};
