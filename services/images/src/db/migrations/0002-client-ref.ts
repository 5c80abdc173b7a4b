import type { Migration } from '@vision/shared/db/migrate';

/** The caller's own name for a camera or an order; records and events of calls carry it. */
export const clientRefs: Migration = {
  name: '0002-client-ref',
  up: async (db) => {
    await db.raw('alter table idempotency_keys add column if not exists client_ref text');
    await db.raw('alter table image_calls add column if not exists client_ref text');
  },
  down: async (db) => {
    await db.raw('alter table image_calls drop column if exists client_ref');
    await db.raw('alter table idempotency_keys drop column if exists client_ref');
  },
};
