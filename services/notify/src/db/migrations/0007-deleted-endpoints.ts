import type { Migration } from '@vision/shared/db/migrate';

/** `webhook_endpoints.deleted_at`: since when an endpoint waits for the removal of its deliveries. */
export const deletedEndpoints: Migration = {
  name: '0007-deleted-endpoints',
  up: async (db) => {
    await db.raw('alter table webhook_endpoints add column if not exists deleted_at timestamptz');
  },
  down: async (db) => {
    await db.raw('alter table webhook_endpoints drop column if exists deleted_at');
  },
};
