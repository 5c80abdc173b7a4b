import type { Knex } from 'knex';
import { tasksOfReservations } from '@vision/contracts/reservation-id';
import type { ObjectPage } from '@vision/shared/audit/audit-objects';
import { deletedAmong } from './deleted-tasks.ts';
import { activeStatuses, hiddenStatuses } from '../domain/task.ts';
import type { Status } from '../domain/task.ts';
import { TASKS } from './task-row.ts';

/** Those of the given reservations that a task in progress holds. */
export async function findHeld(db: Knex, reservationIds: string[]): Promise<string[]> {
  if (reservationIds.length === 0) return [];
  return db(TASKS)
    .whereIn('task_id', tasksOfReservations(reservationIds))
    .whereIn('reservation_id', reservationIds)
    .whereIn('status', [...hiddenStatuses, ...activeStatuses])
    .pluck<string[]>('reservation_id');
}

/** Those of the given ids that are tasks in any state or were deleted by their owners. */
export async function withTask(db: Knex, taskIds: string[]): Promise<string[]> {
  const stored = await db(TASKS).whereIn('task_id', taskIds).pluck<string[]>('task_id');
  return [...new Set([...stored, ...(await deletedAmong(db, taskIds))])];
}

export interface StoredVideo {
  taskId: string;
  objectKey: string;
}

/** A page of the videos of tasks, ordered by id. */
export async function videosToScan(
  db: Knex,
  { after, limit }: { after: string; limit: number },
): Promise<(StoredVideo & { cursor: string })[]> {
  const query = db(TASKS)
    .whereNotNull('object_key')
    .whereNotIn('status', [...hiddenStatuses, 'refunded'])
    .orderBy('task_id')
    .limit(limit)
    .select('task_id as taskId', 'task_id as cursor', 'object_key as objectKey');
  if (after !== '') query.where('task_id', '>', after);
  return query;
}

/** A video with the submission time of its task. */
export interface SubmittedVideo extends StoredVideo {
  at: string;
}

/** A page of the videos of tasks submitted in this period. */
export async function videosSubmitted(
  db: Knex,
  { window: { from, to }, after, limit }: ObjectPage<SubmittedVideo>,
): Promise<SubmittedVideo[]> {
  const { rows } = await db.raw<{ rows: SubmittedVideo[] }>(
    `select t.task_id as "taskId", t.object_key as "objectKey", m.at::text as at
       from task_moves as m join tasks as t using (task_id)
      where m.to_status = 'submitting' and m.at >= :from and m.at <= :to
        and t.object_key is not null and t.status <> 'refunded'
        and (:after::timestamptz is null or (m.at, t.object_key) > (:after::timestamptz, :afterKey))
      order by m.at, t.object_key limit :limit`,
    { from, to, after: after?.at ?? null, afterKey: after?.objectKey ?? null, limit },
  );
  return rows;
}

/** The videos of the given tasks that a task still needs. */
export async function videosOf(db: Knex, taskIds: string[]): Promise<StoredVideo[]> {
  return db(TASKS)
    .whereIn('task_id', taskIds)
    .whereNotNull('object_key')
    .whereNot('status', 'refunded' satisfies Status)
    .select<StoredVideo[]>('task_id as taskId', 'object_key as objectKey');
}
