import type { Migration } from '@vision/shared/db/migrate';

/**
 * `idempotency_keys` is where a call lives while it is worked on: leased by the process that works on it, fenced by
 * `attempt`. `image_calls` and `images` hold finished calls only and never change.
 */
export const imageCalls: Migration = {
  name: '0001-image-calls',
  up: async (db) => {
    await db.raw(`
      create table if not exists idempotency_keys (
        subject text not null,
        key uuid not null,
        task_id uuid not null,
        request_id text not null,
        fingerprint text not null,
        scene_code text not null,
        images_total int not null check (images_total between 1 and 10),
        reservation_id text not null,
        state text not null check (state in ('working', 'undoing', 'done')),
        attempt int not null check (attempt > 0),
        lease_until timestamptz not null,
        created_at timestamptz not null,
        expires_at timestamptz,
        constraint idempotency_keys_pkey primary key (subject, key),
        constraint idempotency_keys_task_id unique (task_id),
        constraint idempotency_keys_done_expires check ((state = 'done') = (expires_at is not null))
      )`);
    await db.raw(
      `create index if not exists idempotency_keys_unfinished on idempotency_keys (lease_until) where state <> 'done'`,
    );
    await db.raw(`create index if not exists idempotency_keys_expires on idempotency_keys (expires_at)`);
    await db.raw(`
      create table if not exists image_calls (
        task_id uuid primary key,
        subject text not null,
        request_id text not null,
        scene_code text not null,
        images_total int not null check (images_total between 1 and 10),
        images_succeeded int not null,
        reservation_id text not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        result_expires_at timestamptz not null,
        constraint image_calls_succeeded_within_total check (images_succeeded between 0 and images_total)
      )`);
    await db.raw(`create index if not exists image_calls_expires on image_calls (result_expires_at)`);
    await db.raw(`
      create table if not exists images (
        task_id uuid not null references image_calls (task_id) on delete cascade,
        seq int not null check (seq between 0 and 9),
        object_key text,
        sha256 text not null check (length(sha256) = 64),
        bytes int not null check (bytes between 1 and 8388608),
        content_type text not null check (content_type in ('image/jpeg', 'image/png', 'image/webp')),
        status text not null check (status in ('succeeded', 'failed')),
        error_code text,
        result jsonb,
        primary key (task_id, seq),
        constraint images_result_or_error check ((status = 'succeeded') = (result is not null)),
        constraint images_error_or_result check ((status = 'failed') = (error_code is not null)),
        constraint images_succeeded_are_stored check (status = 'failed' or object_key is not null)
      )`);
  },
  down: async (db) => {
    await db.raw('drop table if exists images, image_calls, idempotency_keys');
  },
};
