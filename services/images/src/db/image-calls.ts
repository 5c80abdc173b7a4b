import type { Knex } from 'knex';
import type { DetectedObject, ImageSize } from '@vision/contracts/detection';
import type { ImageCall, ImageEntry, ImageFault } from '../domain/image-call.ts';
import type { ImageType } from '../domain/image-type.ts';

interface CallRow {
  task_id: string;
  subject: string;
  request_id: string;
  scene_code: string;
  client_ref: string | null;
  images_total: number;
  images_succeeded: number;
  reservation_id: string;
  created_at: Date;
  updated_at: Date;
  result_expires_at: Date;
}

export interface ImageRow {
  seq: number;
  object_key: string | null;
  sha256: string;
  bytes: number;
  content_type: ImageType;
  status: 'succeeded' | 'failed';
  error_code: ImageFault | null;
  result: { image: ImageSize; objects: DetectedObject[] } | null;
}

/** A call of this subject that has not expired. */
export async function findImageCall(
  db: Knex,
  { subject, taskId }: { subject: string; taskId: string },
): Promise<ImageCall | undefined> {
  const row = await db('image_calls')
    .where({ subject, task_id: taskId })
    .where('result_expires_at', '>', db.raw('vision_now()'))
    .first<CallRow | undefined>();
  return row && fromRow(row);
}

/** A call of any subject. */
export async function findAnyImageCall(db: Knex, taskId: string): Promise<ImageCall | undefined> {
  const row = await db('image_calls').where({ task_id: taskId }).first<CallRow | undefined>();
  return row && fromRow(row);
}

/** The images of a call in upload order. */
export async function findImages(db: Knex, taskId: string): Promise<ImageEntry[]> {
  const rows = await db('images').where({ task_id: taskId }).orderBy('seq').select<ImageRow[]>('*');
  return rows.map(fromImageRow);
}

/** Those of the given task ids that have a finished call. */
export async function findFinished(db: Knex, taskIds: string[]): Promise<string[]> {
  const rows = await db('image_calls').whereIn('task_id', taskIds).select<{ task_id: string }[]>('task_id');
  return rows.map((row) => row.task_id);
}

/** Object keys of the images of the finished calls among the given tasks. */
export async function findStored(db: Knex, taskIds: string[]): Promise<string[]> {
  const rows = await db('images')
    .whereIn('task_id', taskIds)
    .whereNotNull('object_key')
    .select<{ object_key: string }[]>('object_key');
  return rows.map((row) => row.object_key);
}

/** A page of the stored images of finished calls, ordered by task; `after` is `<task_id>/<seq>`. */
export async function picturesToScan(
  db: Knex,
  { after, limit }: { after: string; limit: number },
): Promise<{ taskId: string; objectKey: string; cursor: string }[]> {
  const [taskId = '', seq = ''] = after.split('/');
  const query = db('images')
    .whereNotNull('object_key')
    .orderBy(['task_id', 'seq'])
    .limit(limit)
    .select('task_id as taskId', 'object_key as objectKey', db.raw(`task_id || '/' || seq as cursor`));
  if (after !== '') query.whereRaw('(task_id, seq) > (?::uuid, ?::int)', [taskId, seq]);
  return query;
}

/** Task ids of expired calls, oldest first. */
export async function findExpired(db: Knex, limit: number): Promise<string[]> {
  return db('image_calls')
    .where('result_expires_at', '<=', db.raw('vision_now()'))
    .orderBy('result_expires_at')
    .limit(limit)
    .pluck<string[]>('task_id');
}

/** Removes calls, their images and their keys; the key of a deleted call stays until it expires. */
export async function deleteCalls(tx: Knex.Transaction, taskIds: string[]): Promise<void> {
  await tx('idempotency_keys').where('state', 'done').whereNull('deleted_at').whereIn('task_id', taskIds).delete();
  await tx('image_calls').whereIn('task_id', taskIds).delete();
}

function fromImageRow(row: ImageRow): ImageEntry {
  const { seq, sha256, bytes, content_type: contentType } = row;
  const shared = { seq, sha256, bytes, contentType };
  if (row.result) {
    const { image: size, objects } = row.result;
    return { ...shared, outcome: { status: 'succeeded', objectKey: row.object_key ?? '', size, objects } };
  }
  const errorCode = row.error_code ?? 'OP-SYS-UNAVAILABLE';
  return { ...shared, outcome: { status: 'failed', objectKey: row.object_key ?? undefined, errorCode } };
}

function fromRow(row: CallRow): ImageCall {
  return {
    taskId: row.task_id,
    subject: row.subject,
    requestId: row.request_id,
    sceneCode: row.scene_code,
    clientRef: row.client_ref,
    imagesTotal: row.images_total,
    imagesSucceeded: row.images_succeeded,
    reservationId: row.reservation_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    resultExpiresAt: row.result_expires_at,
  };
}
