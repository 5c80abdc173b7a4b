import type { Migration } from '@vision/shared/db/migrate';

/**
 * `idempotency_keys.deleted_at`: when the owner deleted the call. The key stays until it expires, so that a repeat of
 * the request begins nothing new.
 */
export const deletedCalls: Migration = {
  name: '0003-deleted-calls',
  up: async (db) => {
    await db.raw('alter table idempotency_keys add column if not exists deleted_at timestamptz');
  },
  down: async (db) => {
    await db.raw('alter table idempotency_keys drop column if exists deleted_at');
  },
};
