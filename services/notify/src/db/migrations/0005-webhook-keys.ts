import type { Migration } from '@vision/shared/db/migrate';

/**
 * `webhook_endpoints.key_id`: the API key by which the endpoint was last changed; null when an earlier release stored
 * it.
 */
export const webhookKeys: Migration = {
  name: '0005-webhook-keys',
  up: async (db) => {
    await db.raw('alter table webhook_endpoints add column if not exists key_id text');
  },
  down: async (db) => {
    await db.raw('alter table webhook_endpoints drop column if exists key_id');
  },
};
