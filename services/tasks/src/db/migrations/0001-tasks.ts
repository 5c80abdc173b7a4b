import type { Migration } from '@vision/shared/db/migrate';

export const tasks: Migration = {
  name: '0001-tasks',
  up: async (db) => {
    await db.raw(`
      create table tasks (
        task_id uuid primary key,
        subject text not null,
        kind text not null check (kind in ('stream', 'upload', 'image')),
        request_id text not null,
        request_key text not null,
        scene_code text not null,
        status text not null check (status in ('draft', 'admitted', 'undoing', 'submitting', 'resolving', 'running',
                                               'stopping', 'stopped', 'succeeded', 'failed', 'refunded')),
        version integer not null,
        attempt integer not null,
        lower_bound double precision not null,
        default_min_score double precision not null,
        reservation_id text not null,
        source_label text,
        object_key text,
        reason text,
        admitted_at timestamptz,
        stop_requested_at timestamptz,
        stop_sent_at timestamptz,
        stops_sent integer not null default 0,
        job_status text,
        job_seen_at timestamptz,
        job_missing_since timestamptz,
        job_ended_at timestamptz,
        job_frames_published bigint,
        results_completed_at timestamptz,
        lease_until timestamptz not null default now(),
        check_at timestamptz,
        traceparent text,
        tracestate text,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        ended_at timestamptz,
        result_expires_at timestamptz not null
      )`);
    // One task per subject and key; drafts are not tasks yet, and image calls are guarded by their own service.
    await db.raw(`
      create unique index tasks_request_key on tasks (subject, request_key)
       where kind <> 'image' and status not in ('draft', 'admitted', 'undoing')`);
    await db.raw(`create index tasks_history on tasks (subject, task_id desc)`);
    await db.raw(`
      create index tasks_active on tasks (subject)
       where status in ('admitted', 'submitting', 'resolving', 'running', 'stopping')`);
    await db.raw(`
      create index tasks_hidden on tasks (lease_until) where status in ('draft', 'admitted', 'undoing')`);
    await db.raw(`create index tasks_check on tasks (check_at) where check_at is not null`);
    await db.raw(`create index tasks_object on tasks (object_key) where object_key is not null`);
    await db.raw(`
      create index tasks_refunded on tasks (task_id) where status = 'refunded' and object_key is not null`);
    await db.raw(`create index tasks_expiry on tasks (result_expires_at)`);
  },
  down: async (db) => {
    await db.raw('drop table tasks');
  },
};

export const taskMoves: Migration = {
  name: '0002-task-moves',
  up: async (db) => {
    await db.raw(`
      create table task_moves (
        task_id uuid not null references tasks on delete cascade,
        version integer not null,
        attempt integer not null,
        from_status text not null,
        to_status text not null,
        move text not null,
        actor text not null,
        note text,
        at timestamptz not null default now(),
        primary key (task_id, version)
      )`);
  },
  down: async (db) => {
    await db.raw('drop table task_moves');
  },
};

export const idempotencyKeys: Migration = {
  name: '0003-idempotency-keys',
  up: async (db) => {
    await db.raw(`
      create table idempotency_keys (
        subject text not null,
        key text not null,
        task_id uuid not null,
        fingerprint text not null,
        done boolean not null default false,
        owner uuid not null,
        lease_until timestamptz not null,
        created_at timestamptz not null default now(),
        primary key (subject, key)
      )`);
    await db.raw('create index idempotency_keys_task on idempotency_keys (task_id)');
    await db.raw('create index idempotency_keys_dead on idempotency_keys (lease_until) where not done');
  },
  down: async (db) => {
    await db.raw('drop table idempotency_keys');
  },
};
