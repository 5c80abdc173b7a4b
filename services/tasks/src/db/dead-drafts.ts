import type { Knex } from 'knex';
import { claimDue } from '@vision/shared/db/leases';
import { hiddenStatuses } from '../domain/task.ts';
import type { Task } from '../domain/task.ts';
import { TASKS, toTask } from './task-row.ts';
import type { TaskRow } from './task-row.ts';

/**
 * Claims drafts whose process let their lease run out. The attempt number grows with the claim, so that a process
 * that was only held up can write nothing more.
 */
export async function claimDeadDrafts(
  db: Knex,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<Task[]> {
  const where = db.raw('due.status = any(?)', [[...hiddenStatuses]]);
  const rows = await claimDue<TaskRow>(db, { table: TASKS, key: 'task_id', leaseMs, limit, where });
  return rows.map(toTask);
}
