import type { Knex } from 'knex';
import type { NewOutboxRow } from '@vision/kafka/outbox';
import type { Claim, ImageEntry } from '../domain/image-call.ts';
import type { ImageRow } from './image-calls.ts';

export interface FinishedWork {
  claim: Claim;
  entries: ImageEntry[];
  imagesSucceeded: number;
  /** Retention of the result in days. */
  retentionDays: number;
  /** Fields of the event; the database overwrites the timestamps that only it knows. */
  event: NewOutboxRow;
}

/**
 * Stores the outcome of a call: the state of the key, the record, its images and the event, in one statement and so in
 * one round trip and one commit. The key row is locked first, so that events have the order of commits. Undefined, and
 * nothing is stored, when the claim is no longer ours.
 */
export async function storeImageCall(
  db: Knex,
  { claim, entries, event, ...more }: FinishedWork,
): Promise<{ updatedAt: Date; expiresAt: Date } | undefined> {
  const { taskId, attempt } = claim;
  const { rows } = await db.raw<{ rows: { updatedAt: Date; expiresAt: Date }[] }>(STORE, {
    ...more,
    ...event,
    taskId,
    attempt,
    imagesTotal: entries.length,
    images: JSON.stringify(entries.map(toRow)),
  });
  return rows[0];
}

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

const STORE = `
  with done as (
    update idempotency_keys
       set state = 'done', expires_at = created_at + make_interval(days => :retentionDays)
     where task_id = :taskId and attempt = :attempt and state = 'working'
     returning *, vision_now() as updated_at),
  call as (
    insert into image_calls
      (task_id, subject, request_id, scene_code, client_ref, images_total, images_succeeded, reservation_id,
       created_at, updated_at, result_expires_at)
    select task_id, subject, request_id, scene_code, client_ref, :imagesTotal, :imagesSucceeded, reservation_id,
           created_at, updated_at, expires_at
      from done),
  pictures as (
    insert into images (task_id, seq, object_key, sha256, bytes, content_type, status, error_code, result)
    select done.task_id, image.seq, image.object_key, image.sha256, image.bytes, image.content_type, image.status,
           image.error_code, image.result
      from done,
           jsonb_to_recordset(cast(:images as jsonb)) as image (
             seq int, object_key text, sha256 text, bytes int, content_type text, status text, error_code text,
             result jsonb)),
  told as (
    insert into outbox (event_id, topic, key, type, source, payload, traceparent, tracestate)
    select cast(:event_id as uuid), :topic, :key, :type, :source,
           cast(:payload as jsonb) || jsonb_build_object(
             'updated_at', to_char(updated_at at time zone 'utc', ${ISO}),
             'result_expires_at', to_char(expires_at at time zone 'utc', ${ISO})),
           :traceparent, :tracestate
      from done)
  select updated_at as "updatedAt", expires_at as "expiresAt" from done`;

function toRow({ seq, sha256, bytes, contentType, outcome }: ImageEntry): ImageRow {
  const shared = { seq, sha256, bytes, content_type: contentType, status: outcome.status };
  return outcome.status === 'succeeded'
    ? {
        ...shared,
        object_key: outcome.objectKey,
        error_code: null,
        result: { image: outcome.size, objects: outcome.objects },
      }
    : { ...shared, object_key: outcome.objectKey ?? null, error_code: outcome.errorCode, result: null };
}
