import type { Migration } from '@vision/shared/db/migrate';

/** What a key is limited to; null: not at all. */
export const scopesOfKeys: Migration = {
  name: '0002-key-scopes',
  up: async (db) => {
    await db.raw('alter table api_keys add column if not exists scopes text[]');
  },
  down: async (db) => {
    await db.raw('alter table api_keys drop column if exists scopes');
  },
};
