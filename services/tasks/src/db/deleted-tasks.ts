import type { Knex } from 'knex';
import { taskDeleted } from '@vision/contracts/task-events';
import { appendEvent } from '@vision/kafka/outbox';
import { endedStatuses } from '../domain/task.ts';
import type { DeletedTask, VideoKind } from '../domain/task.ts';
import { inFuture } from './instants.ts';
import { TASKS } from './task-row.ts';

const DELETED = 'deleted_tasks';

interface DeletedRow {
  task_id: string;
  subject: string;
  kind: VideoKind | 'image';
  deleted_at: Date;
  confirmed_at: Date | null;
}

const toDeleted = (row: DeletedRow): DeletedTask => ({
  taskId: row.task_id,
  subject: row.subject,
  kind: row.kind,
  deletedAt: row.deleted_at,
  confirmedAt: row.confirmed_at,
});

/** A deleted task, as long as its results would still be retained. `subject` undefined: any owner. */
export async function findDeleted(
  db: Knex,
  { taskId, subject }: { taskId: string; subject?: string | undefined },
): Promise<DeletedTask | undefined> {
  const query = db<DeletedRow>(DELETED).where({ task_id: taskId }).where('expires_at', '>', db.raw('vision_now()'));
  if (subject !== undefined) void query.where({ subject });
  const row = await query.first();
  return row && toDeleted(row);
}

/** Whether the Idempotency-Key names a video task that its owner deleted. */
export async function isDeletedKey(db: Knex, { subject, key }: { subject: string; key: string }): Promise<boolean> {
  const found = await db(DELETED)
    .where({ subject, request_key: key })
    .whereNot({ kind: 'image' })
    .where('expires_at', '>', db.raw('vision_now()'))
    .first<{ task_id: string } | undefined>('task_id');
  return found !== undefined;
}

/**
 * Deletes an ended task: reads no longer find it after this transaction. Retention removes its video and its row; the
 * record of its deletion stays and is published. The caller has to notify the other services within the lease.
 * Undefined for a task that has not ended or no longer exists.
 */
export async function storeDeletion(
  tx: Knex.Transaction,
  { taskId, leaseMs }: { taskId: string; leaseMs: number },
): Promise<DeletedTask | undefined> {
  const { rows } = await tx.raw<{ rows: DeletedRow[] }>(
    `with ended as (
       select * from tasks where task_id = :taskId and status = any(:ended) and result_expires_at > vision_now()
         for update),
     hidden as (
       update tasks set result_expires_at = vision_now() from ended where tasks.task_id = ended.task_id)
     insert into deleted_tasks (task_id, subject, request_key, kind, deleted_at, expires_at, tell_at)
     select task_id, subject, request_key, kind, vision_now(), result_expires_at, now() + make_interval(secs => :leaseS)
       from ended
         on conflict do nothing
     returning *`,
    { taskId, ended: [...endedStatuses], leaseS: leaseMs / 1000 },
  );
  const deleted = rows[0] && toDeleted(rows[0]);
  if (deleted) await tellDeletion(tx, deleted);
  return deleted;
}

async function tellDeletion(tx: Knex.Transaction, { taskId, subject, deletedAt }: DeletedTask): Promise<void> {
  const data = { task_id: taskId, subject, deleted_at: deletedAt.toISOString() };
  await appendEvent(tx, { ...taskDeleted, key: taskId, source: 'tasks', data });
}

/** SQL condition, answered by an index: whether a deletion is due for notification. */
export const ANY_DELETION_DUE = `exists (select from ${DELETED} where tell_at <= now())`;

/** Claims one deletion for a lease; false when it is confirmed or another request or process holds it. */
export async function claimDeletion(
  db: Knex,
  { taskId, leaseMs }: { taskId: string; leaseMs: number },
): Promise<boolean> {
  const claimed = await db(DELETED)
    .where({ task_id: taskId, confirmed_at: null })
    .where('tell_at', '<=', db.fn.now())
    .update({ tell_at: inFuture(db, leaseMs) });
  return claimed === 1;
}

/** Claims deletions that are due for notification, each for a lease. */
export async function claimDeletions(
  db: Knex,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<Pick<DeletedTask, 'taskId' | 'kind'>[]> {
  const { rows } = await db.raw<{ rows: { taskId: string; kind: DeletedTask['kind'] }[] }>(
    `update deleted_tasks set tell_at = now() + make_interval(secs => :leaseS)
      where task_id in (
        select task_id from deleted_tasks where tell_at <= now() order by tell_at limit :limit for update skip locked)
      returning task_id as "taskId", kind`,
    { leaseS: leaseMs / 1000, limit },
  );
  return rows;
}

/**
 * Hides deleted tasks that became visible again: a process of an earlier release stores the record of an image call
 * whose event is published again.
 */
export async function hideAgain(db: Knex, taskIds: string[]): Promise<void> {
  await db(TASKS)
    .whereIn('task_id', taskIds)
    .where('result_expires_at', '>', db.raw('vision_now()'))
    .update({ result_expires_at: db.raw('vision_now()') });
}

/** Marks deletions as confirmed: no data of these tasks is left. They are repeated `againMs` from now. */
export async function confirmDeletions(db: Knex, taskIds: string[], againMs: number): Promise<void> {
  await db(DELETED)
    .whereIn('task_id', taskIds)
    .update({ confirmed_at: db.raw('coalesce(confirmed_at, vision_now())'), tell_at: inFuture(db, againMs) });
}

/** Age of the oldest unconfirmed deletion in seconds; 0 when all are confirmed. */
export async function oldestUnconfirmedS(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ age: number }] }>(
    `select coalesce(extract(epoch from vision_now() - min(deleted_at)), 0)::double precision as age
       from deleted_tasks where confirmed_at is null`,
  );
  return rows[0].age;
}

/** Those of the given tasks that their owners deleted, for queries about any subject. */
export async function deletedAmong(db: Knex, taskIds: string[]): Promise<string[]> {
  return db(DELETED).whereIn('task_id', taskIds).pluck<string[]>('task_id');
}

/** Removes deletions of tasks whose results would have expired by now. */
export async function removeExpiredDeletions(db: Knex): Promise<void> {
  await db(DELETED).where('expires_at', '<=', db.raw('vision_now()')).delete();
}
