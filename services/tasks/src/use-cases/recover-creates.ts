import { claimDue } from '@vision/shared/db/leases';
import { inTransaction } from '@vision/shared/db/transaction';
import { removeDeadKeys } from '../db/idempotency-keys.ts';
import { moveTask, TaskMovedError } from '../db/move-task.ts';
import { TASKS, toTask } from '../db/task-row.ts';
import type { TaskRow } from '../db/task-row.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';
import { releaseVideos } from './release-refunded.ts';
import { undoDraft } from './undo-draft.ts';

const LEASE_MS = 15_000;

/**
 * Undoes creates whose process died before the backend could be asked. Taking one over raises its attempt number, so that a
 * process that was only held up can write nothing more. @returns how many were undone.
 */
export async function recoverCreates(
  deps: Pick<Deps, 'db' | 'clock' | 'quota' | 'objects' | 'logger'>,
): Promise<number> {
  const { db } = deps;
  const where = db.raw(`due.status in ('draft', 'admitted', 'undoing')`);
  const rows = await claimDue<TaskRow>(db, { table: TASKS, key: 'task_id', leaseMs: LEASE_MS, limit: 20, where });
  let undone = 0;
  for (const row of rows) {
    try {
      await undoDraft(deps, await takeOver(deps, toTask(row)));
      undone += 1;
    } catch (error) {
      if (error instanceof TaskMovedError) continue;
      deps.logger.warn({ err: error, task_id: row.task_id }, 'a dead create could not be undone yet');
    }
  }
  await removeDeadKeys(db);
  return undone + (await releaseVideos(deps));
}

async function takeOver({ db, clock }: Pick<Deps, 'db' | 'clock'>, draft: Task): Promise<Task> {
  if (draft.status === 'undoing') return draft;
  return inTransaction(db, (tx) => moveTask(tx, { task: draft, move: 'give_up', clock }));
}
