import { inTransaction } from '@vision/shared/db/transaction';
import { moveTask } from '../../db/move-task.ts';
import type { Change, StatusAfter } from '../../domain/moves.ts';
import type { Task, TaskIn } from '../../domain/task.ts';
import type { MoveDeps } from '../deps.ts';

/**
 * Moves a task in a transaction of its own, reports the move, and wakes the relay and the reconciler.
 * @throws TaskMovedError when the task has changed since it was read; no row was changed.
 */
export async function moveNow<C extends Change>(
  { db, signals, wakeRelay, wakeReconciler }: MoveDeps,
  task: Task,
  change: C,
): Promise<TaskIn<StatusAfter<C['move']>>> {
  const moved = await inTransaction(db, (tx) => moveTask(tx, task, change));
  signals.moved(moved, change);
  wakeRelay();
  wakeReconciler();
  return moved;
}
