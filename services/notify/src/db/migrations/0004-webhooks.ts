import type { Migration } from '@vision/shared/db/migrate';

/**
 * `webhook_endpoints`: where events of a subject are sent, and how far its log was made into deliveries. Address and
 * secrets are encrypted. `webhook_deliveries`: one event for one endpoint; its body stays in the log.
 */
export const webhooks: Migration = {
  name: '0004-webhooks',
  up: async (db) => {
    await db.raw(`
      create table if not exists webhook_endpoints (
        endpoint_key uuid primary key,
        subject text not null,
        endpoint_id text not null,
        url_box bytea not null,
        host text not null,
        secret_box bytea not null,
        old_secret_box bytea,
        old_secret_until timestamptz,
        event_types text[],
        is_enabled boolean not null,
        disabled_reason text,
        position bigint not null,
        missed_after bigint,
        failing_since timestamptz,
        failures int not null default 0,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        unique (subject, endpoint_id)
      ) with (fillfactor = 70)`);
    await db.raw(`
      create table if not exists webhook_deliveries (
        delivery_id uuid primary key,
        endpoint_key uuid not null references webhook_endpoints on delete cascade,
        subject text not null,
        position bigint not null,
        event_id uuid not null,
        type text not null,
        task_id uuid,
        state text not null default 'pending',
        lease_until timestamptz not null default now(),
        attempt int not null default 0,
        failures int not null default 0,
        begun_at timestamptz not null default now(),
        attempts jsonb not null default '[]',
        created_at timestamptz not null default vision_now(),
        unique (endpoint_key, event_id)
      )`);
    await db.raw(`
      create index if not exists webhook_deliveries_due on webhook_deliveries (endpoint_key, lease_until)
       where state = 'pending'`);
    await db.raw(`
      create index if not exists webhook_deliveries_next on webhook_deliveries (lease_until) where state = 'pending'`);
    await db.raw(
      'create index if not exists webhook_deliveries_listed on webhook_deliveries (endpoint_key, state, delivery_id)',
    );
    await db.raw(`
      create index if not exists webhook_deliveries_by_task on webhook_deliveries (task_id) where task_id is not null`);
    await db.raw('create index if not exists webhook_deliveries_created_at on webhook_deliveries (created_at)');
  },
  down: async (db) => {
    await db.raw('drop table if exists webhook_deliveries, webhook_endpoints');
  },
};
