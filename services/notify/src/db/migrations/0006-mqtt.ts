import type { Migration } from '@vision/shared/db/migrate';

/**
 * `mqtt_endpoints`: brokers of callers that events of a subject are published to, and how far each has acknowledged
 * its log. Address and login are encrypted together. One process at a time holds the lease, and with it the connection.
 */
export const mqtt: Migration = {
  name: '0006-mqtt',
  up: async (db) => {
    await db.raw(`
      create table if not exists mqtt_endpoints (
        endpoint_key uuid primary key,
        subject text not null,
        endpoint_id text not null,
        broker_box bytea not null,
        host text not null,
        topic_prefix text not null,
        event_types text[],
        is_enabled boolean not null,
        disabled_reason text,
        key_id text,
        revision int not null default 1,
        position bigint not null,
        lease_token uuid,
        lease_until timestamptz not null default '-infinity',
        connected_since timestamptz,
        next_at timestamptz not null default '-infinity',
        failing_since timestamptz,
        failures int not null default 0,
        last_failure text,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        unique (subject, endpoint_id)
      ) with (fillfactor = 70)`);
    await db.raw(`
      create index if not exists mqtt_endpoints_due on mqtt_endpoints (greatest(lease_until, next_at))
       where is_enabled`);
  },
  down: async (db) => {
    await db.raw('drop table if exists mqtt_endpoints');
  },
};
