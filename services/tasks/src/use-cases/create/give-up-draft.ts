import { atMost } from '@vision/shared/async/at-most';
import { crashPoint } from '@vision/shared/crash-point';
import { throughOutage } from '@vision/creation/through-outage';
import { inTransaction } from '@vision/shared/db/transaction';
import { freeKey } from '../../db/idempotency-keys.ts';
import { moveTask, TaskMovedError } from '../../db/move-task.ts';
import { findVideoTask } from '../../db/tasks.ts';
import type { Task } from '../../domain/task.ts';
import type { SubmitDeps } from '../deps.ts';
import { takeBack } from './take-back.ts';
import { undoBriefly } from './undo-draft.ts';

/** The caller does not wait longer than this for the database; what is repeated continues in the background. */
const WAIT_MS = 4_000;

/**
 * Gives up a create that was refused and frees its key at once. What it holds is given back here when that is
 * possible, else by the recovery: the row stays until then. Does nothing when another process took the draft over.
 */
export async function giveUpDraft(deps: SubmitDeps, draft: Task): Promise<void> {
  const givenUp = throughOutage(() => giveUp(deps, draft)).catch((error: unknown) => {
    if (error instanceof TaskMovedError) return;
    deps.logger.warn({ err: error, task_id: draft.taskId }, 'a draft is left to the recovery');
  });
  await atMost(WAIT_MS, givenUp);
}

async function giveUp(deps: SubmitDeps, draft: Task): Promise<void> {
  const task = await inTransaction(deps.db, async (tx) => {
    // The draft may have been admitted since; a transaction of this process that is still under way is waited for.
    const stored = await findVideoTask(tx, draft.taskId, 'for update');
    // A higher attempt means that another process took it over.
    if (stored?.attempt !== draft.attempt) throw new TaskMovedError(`${draft.taskId} was taken over`);
    if (stored.status === 'submitting') return stored;
    const undoing = await moveTask(tx, stored, { move: 'give_up', recoverAfterMs: 0 });
    await freeKey(tx, draft.taskId);
    return undoing;
  });
  // The answer to the commit was lost, so the task was never sent.
  if (task.status === 'submitting') return takeBack(deps, task);
  crashPoint('tasks.undo.given-up');
  await undoBriefly(deps, task);
}
