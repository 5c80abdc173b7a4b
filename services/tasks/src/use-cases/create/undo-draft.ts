import { atMost } from '@vision/shared/async/at-most';
import { inTransaction } from '@vision/shared/db/transaction';
import { crashPoint } from '@vision/shared/crash-point';
import { removeUndone } from '../../db/idempotency-keys.ts';
import type { Task } from '../../domain/task.ts';
import type { UndoDeps } from '../deps.ts';

/**
 * An undoing that takes longer continues in the background; should this process end meanwhile, the recovery finishes
 * it.
 */
const UNDO_WAIT_MS = 2_000;

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
