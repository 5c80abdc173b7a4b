import type { Knex } from 'knex';

/** Hides these calls, and keeps their keys without `client_ref` until the keys expire. */
export async function hideCalls(tx: Knex.Transaction, taskIds: string[]): Promise<void> {
  await tx('idempotency_keys')
    .whereIn('task_id', taskIds)
    .where({ state: 'done' })
    .update({ deleted_at: tx.raw('coalesce(deleted_at, vision_now())'), client_ref: null });
  await tx('image_calls')
    .whereIn('task_id', taskIds)
    .where('result_expires_at', '>', tx.raw('vision_now()'))
    .update({ result_expires_at: tx.raw('vision_now()') });
}

/** Removes hidden calls with their images. */
export async function removeHidden(db: Knex, taskIds: string[]): Promise<void> {
  await db('image_calls').whereIn('task_id', taskIds).where('result_expires_at', '<=', db.raw('vision_now()')).delete();
}

/** Removes the keys of deleted calls that have expired. */
export async function removeExpiredKeys(db: Knex): Promise<void> {
  await db('idempotency_keys').whereNotNull('deleted_at').where('expires_at', '<=', db.raw('vision_now()')).delete();
}
