import type { Migration } from '@vision/shared/db/migrate';

export const jobs: Migration = {
  name: '0001-jobs',
  up: async (db) => {
    await db.raw(`
      create table jobs (
        job_id uuid primary key,
        -- Keyed digest of what was asked for; null for an id that was stopped before anybody submitted it.
        fingerprint text,
        scene_code text,
        lower_bound double precision,
        source_kind text check (source_kind in ('stream', 'object')),
        object_key text,
        -- Encrypted, and removed when the job ends.
        stream_url bytea,
        pinned_address text,
        status text not null check (status in ('queued', 'running', 'stopping', 'stopped', 'succeeded', 'failed')),
        attempt integer not null default 0,
        lease_until timestamptz not null default now(),
        frames_published bigint not null default 0,
        last_seq bigint not null default -1,
        last_time_ms bigint,
        reserved_seq bigint not null default 0,
        error text,
        traceparent text,
        tracestate text,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        ended_at timestamptz
      )`);
    await db.raw(`create index jobs_due on jobs (lease_until) where status in ('queued', 'running', 'stopping')`);
    await db.raw(`create index jobs_ended on jobs (ended_at) where ended_at is not null`);
  },
  down: async (db) => {
    await db.raw('drop table jobs');
  },
};

export const workers: Migration = {
  name: '0002-workers',
  up: async (db) => {
    await db.raw(`
      create table workers (
        worker_id uuid primary key,
        capacity integer not null check (capacity > 0),
        seen_at timestamptz not null default now()
      )`);
  },
  down: async (db) => {
    await db.raw('drop table workers');
  },
};
