import type { Knex } from 'knex';
import { claimDue } from '@vision/shared/db/leases';
import { hiddenStatuses } from '../domain/task.ts';
import type { Status, Task } from '../domain/task.ts';
import { TASKS, toTask } from './task-row.ts';
import type { TaskRow } from './task-row.ts';

/**
 * Claims drafts whose lease expired, of all subjects or of one. The claim increments the attempt number, so that a
 * process that was only delayed can no longer write.
 */
export async function claimDeadDrafts(
  db: Knex,
  { limit, leaseMs, subject }: { limit: number; leaseMs: number; subject?: string },
): Promise<Task[]> {
  const statuses = [...hiddenStatuses];
  const where =
    subject === undefined
      ? db.raw('due.status = any(?) and (select may_take_over())', [statuses])
      : db.raw('due.status = any(?) and due.subject = ? and (select may_take_over())', [statuses, subject]);
  const rows = await claimDue<TaskRow>(db, { table: TASKS, key: 'task_id', leaseMs, limit, where });
  return rows.map(toTask);
}

/** SQL condition, answered by indexes: whether recovery has anything to roll back or remove. */
export const ANYTHING_DEAD = `
  exists (select from tasks where status in (${hiddenStatuses.map((status) => `'${status}'`).join()}) and lease_until <= now())
  or exists (select from idempotency_keys where not done and lease_until <= now())
  or exists (select from tasks where status = 'refunded' and object_key is not null)`;

/** Drafts of a subject in `undoing`. They never become tasks again; they may still hold units. */
export async function listUndoing(db: Knex, subject: string, limit: number): Promise<Task[]> {
  const rows = await db(TASKS)
    .where({ subject, status: 'undoing' satisfies Status })
    .whereNotNull('admitted_at')
    .orderBy('lease_until')
    .limit(limit)
    .select<TaskRow[]>('*');
  return rows.map(toTask);
}

/** Whether another draft of a subject may hold a unit that is refunded later. */
export async function holdsUndecidedUnits(db: Knex, subject: string, except?: string): Promise<boolean> {
  const query = db(TASKS)
    .where({ subject })
    .whereIn('status', [...hiddenStatuses])
    .whereNotNull('admitted_at');
  if (except !== undefined) query.whereNot({ task_id: except });
  return (await query.first('task_id')) !== undefined;
}
