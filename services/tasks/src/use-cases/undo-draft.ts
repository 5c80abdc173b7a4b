import { atMost } from '@vision/shared/async/at-most';
import { inTransaction } from '@vision/shared/db/transaction';
import { crashPoint } from '@vision/shared/crash-point';
import { freeKey } from '../db/idempotency-keys.ts';
import { moveTask, TaskMovedError } from '../db/move-task.ts';
import { TASKS } from '../db/task-row.ts';
import { findAnyTask } from '../db/tasks.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';

/** What hangs longer goes on while nobody waits; should this process end meanwhile, the recovery finishes it. */
const UNDO_WAIT_MS = 2_000;

type UndoDeps = Pick<Deps, 'db' | 'clock' | 'quota' | 'objects' | 'logger'>;

/**
 * Gives up a create that was refused and frees its key at once. What it holds is given back here when that is possible, else
 * by the recovery: the row stays until then. Does nothing when another process took the draft over.
 */
export async function giveUpDraft(deps: UndoDeps, draft: Task): Promise<void> {
  try {
    const undoing = await inTransaction(deps.db, async (tx) => {
      // It may have been admitted since; another attempt is somebody else's.
      const task = await findAnyTask(tx, draft.taskId);
      if (task?.attempt !== draft.attempt) throw new TaskMovedError(`${draft.taskId} was taken over`);
      const moved = await moveTask(
        tx,
        { task, move: 'give_up', clock: deps.clock },
        { patch: { lease_until: tx.fn.now() } },
      );
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
export async function undoDraft({ db, quota, objects }: UndoDeps, draft: Task): Promise<void> {
  if (draft.admittedAt !== null) await quota.refund(draft.reservationId, draft.subject);
  crashPoint('tasks.undo.refunded');
  if (draft.objectKey !== null) {
    await objects.abortIncomplete(draft.objectKey, 0);
    await objects.remove([draft.objectKey]);
  }
  crashPoint('tasks.undo.object-removed');
  await inTransaction(db, async (tx) => {
    await freeKey(tx, draft.taskId);
    await tx(TASKS).where({ task_id: draft.taskId, status: 'undoing', attempt: draft.attempt }).delete();
  });
}
