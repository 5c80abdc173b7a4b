import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import { endedStatuses } from '../domain/task.ts';
import type { Status } from '../domain/task.ts';
import { TASKS } from './task-row.ts';

export interface ExpiredTask {
  task_id: string;
  object_key: string | null;
}

/** Expired tasks that have ended. A running task is never removed. */
export async function findExpired(db: Knex, limit: number): Promise<ExpiredTask[]> {
  return db<ExpiredTask>(TASKS)
    .where('result_expires_at', '<=', db.raw('vision_now()'))
    .whereIn('status', endedStatuses)
    .orderBy('result_expires_at')
    .limit(limit)
    .select('task_id', 'object_key');
}

/** Removes tasks with their moves and keys. */
export async function removeTasks(db: Knex, taskIds: string[]): Promise<number> {
  return inTransaction(db, async (tx) => {
    await tx('idempotency_keys').whereIn('task_id', taskIds).delete();
    return tx(TASKS).whereIn('task_id', taskIds).delete();
  });
}

/** Those of the given objects that no task needs. A refunded task needs none. */
export async function withoutTask(db: Knex, objectKeys: string[]): Promise<string[]> {
  if (objectKeys.length === 0) return [];
  const rows = await db(TASKS)
    .whereIn('object_key', objectKeys)
    .whereNot('status', 'refunded' satisfies Status)
    .select<{ object_key: string }[]>('object_key');
  const used = new Set(rows.map((row) => row.object_key));
  return objectKeys.filter((key) => !used.has(key));
}
