import type { Knex } from 'knex';
import type { TaskDeletion, TaskSnapshot } from '@vision/contracts/task-events';

export interface SeenTask {
  version: number;
  status: string;
}

/** The newest version of a task that the log has seen, locked; undefined for a task that it has not. */
export async function findSeenTask(tx: Knex.Transaction, taskId: string): Promise<SeenTask | undefined> {
  return tx('task_states').where({ task_id: taskId }).forUpdate().first<SeenTask | undefined>('version', 'status');
}

/** Notes a newer version. */
export async function saveSeenTask(tx: Knex.Transaction, task: TaskSnapshot): Promise<void> {
  const { task_id, version, status, updated_at } = task;
  await tx('task_states').insert({ task_id, version, status, updated_at }).onConflict('task_id').merge();
}

/** The newest version that the column holds: every version that a task can have is older. */
const LAST_VERSION = 2_147_483_647;

/** Marks a task as deleted, also one of which the log knows nothing: no version of it is new from now on. */
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

/** Whether an instant lies more than `days` back. */
export async function isOlderThan(db: Knex, instant: string, days: number): Promise<boolean> {
  const { rows } = await db.raw<{ rows: [{ old: boolean }] }>(
    'select ?::timestamptz < vision_now() - make_interval(days => ?) as old',
    [instant, days],
  );
  return rows[0].old;
}

/** Forgets tasks that ended, or were deleted, more than `days` ago. @returns how many */
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
