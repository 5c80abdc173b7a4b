import type { Knex } from 'knex';
import type { TaskDeletion, TaskSnapshot } from '@vision/contracts/task-events';

export interface SeenTask {
  version: number;
  status: string;
}

/** The newest logged version of a task, locked; undefined for a task that the log does not know. */
export async function findSeenTask(tx: Knex.Transaction, taskId: string): Promise<SeenTask | undefined> {
  return tx('task_states').where({ task_id: taskId }).forUpdate().first<SeenTask | undefined>('version', 'status');
}

/** Stores a newer version. */
export async function saveSeenTask(tx: Knex.Transaction, task: TaskSnapshot): Promise<void> {
  const { task_id, version, status, updated_at } = task;
  await tx('task_states').insert({ task_id, version, status, updated_at }).onConflict('task_id').merge();
}

/** The largest version that the column holds: every version of a task is older. */
const LAST_VERSION = 2_147_483_647;

/** Marks a task as deleted, also one that the log does not know: no version of it counts as new from now on. */
export async function markDeleted(tx: Knex.Transaction, { task_id, deleted_at }: TaskDeletion): Promise<void> {
  const mark = { version: LAST_VERSION, status: 'deleted', updated_at: deleted_at, deleted_at };
  await tx('task_states')
    .insert({ task_id, ...mark })
    .onConflict('task_id')
    .merge();
}

/** Whether the owner deleted a task. */
export async function isDeleted(tx: Knex.Transaction, taskId: string): Promise<boolean> {
  const row = await tx('task_states')
    .where({ task_id: taskId })
    .whereNotNull('deleted_at')
    .first<object | undefined>('task_id');
  return row !== undefined;
}

/** Whether an instant is more than `days` ago. */
export async function isOlderThan(db: Knex, instant: string, days: number): Promise<boolean> {
  const { rows } = await db.raw<{ rows: [{ old: boolean }] }>(
    'select ?::timestamptz < vision_now() - make_interval(days => ?) as old',
    [instant, days],
  );
  return rows[0].old;
}

/** Removes tasks that ended, or were deleted, more than `days` ago. @returns their number */
export async function removeOldTasks(db: Knex, days: number, limit: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from task_states where task_id in (
       select task_id from task_states where updated_at < vision_now() - make_interval(days => :days)
          and (status in ('succeeded', 'stopped', 'failed', 'refunded') or deleted_at is not null)
        order by updated_at limit :limit for update skip locked)`,
    { days, limit },
  );
  return result.rowCount;
}
