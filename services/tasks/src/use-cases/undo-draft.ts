import { atMost } from '@vision/shared/async/at-most';
import { inTransaction } from '@vision/shared/db/transaction';
import { crashPoint } from '@vision/shared/crash-point';
import { freeKey, removeUndone } from '../db/idempotency-keys.ts';
import { moveTask, TaskMovedError } from '../db/move-task.ts';
import { findVideoTask } from '../db/tasks.ts';
import type { Task } from '../domain/task.ts';
import type { UndoDeps } from './deps.ts';

/**
 * An undoing that takes longer continues in the background; should this process end meanwhile, the recovery finishes
 * it.
 */
const UNDO_WAIT_MS = 2_000;

/**
 * Gives up a create that was refused and frees its key at once. What it holds is given back here when that is
 * possible, else by the recovery: the row stays until then. Does nothing when another process took the draft over.
 */
export async function giveUpDraft(deps: UndoDeps, draft: Task): Promise<void> {
  try {
    const undoing = await inTransaction(deps.db, async (tx) => {
      // The draft may have been admitted since. A higher attempt means that another process took it over.
      const task = await findVideoTask(tx, draft.taskId);
      if (task?.attempt !== draft.attempt) throw new TaskMovedError(`${draft.taskId} was taken over`);
      const moved = await moveTask(tx, task, { move: 'give_up', recoverAfterMs: 0 });
      await freeKey(tx, draft.taskId);
      return moved;
    });
    crashPoint('tasks.undo.given-up');
    await undoBriefly(deps, undoing);
  } catch (error) {
    if (error instanceof TaskMovedError) return;
    deps.logger.warn({ err: error, task_id: draft.taskId }, 'a draft is left to the recovery');
  }
}

/** Gives back what it can while a caller waits for the refusal. */
export async function undoBriefly(deps: UndoDeps, undoing: Task): Promise<void> {
  const undone = undoDraft(deps, undoing).catch((error: unknown) => {
    deps.logger.warn({ err: error, task_id: undoing.taskId }, 'a draft is left to the recovery');
  });
  await atMost(UNDO_WAIT_MS, undone);
}

/** Gives back what a draft in `undoing` holds and removes it. May be repeated from any point. */
export async function undoDraft({ db, quota, store }: UndoDeps, draft: Task): Promise<void> {
  if (draft.admittedAt !== null) await quota.refund(draft.reservationId, draft.subject);
  crashPoint('tasks.undo.refunded');
  if (draft.objectKey !== null) {
    await store.abortIncomplete(draft.objectKey);
    await store.remove([draft.objectKey]);
  }
  crashPoint('tasks.undo.object-removed');
  await inTransaction(db, (tx) => removeUndone(tx, draft));
}
