import type { Knex } from 'knex';
import type { Migration } from '@vision/shared/db/migrate';

export const gatewayTables: Migration = {
  name: '0001-gateway-tables',
  up: async (db: Knex) => {
    await db.raw(`
      create table api_keys (
        key_id text primary key,
        subject text not null,
        name text not null,
        digest bytea not null,
        pepper_version int not null,
        created_at timestamptz not null default now(),
        last_used_at timestamptz,
        expires_at timestamptz,
        revoked_at timestamptz
      );
      create index api_keys_by_subject on api_keys (subject, created_at);
      create index api_keys_revoked on api_keys (revoked_at) where revoked_at is not null;

      create table subject_limits (
        subject text primary key,
        overrides jsonb not null,
        updated_at timestamptz not null default now()
      );
      create index subject_limits_updated on subject_limits (updated_at);

      create table maintenance (
        only_row boolean primary key default true check (only_row),
        enabled boolean not null,
        reason text not null,
        updated_at timestamptz not null default now()
      );
      insert into maintenance (enabled, reason) values (false, '');

      create table audit_log (
        id bigint generated always as identity primary key,
        at timestamptz not null default now(),
        actor text not null,
        action text not null,
        target text not null,
        details jsonb not null default '{}',
        result text not null
      );
    `);
  },
  down: async (db: Knex) => {
    await db.raw('drop table audit_log, maintenance, subject_limits, api_keys');
  },
};
