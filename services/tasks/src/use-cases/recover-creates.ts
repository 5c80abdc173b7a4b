import { inTransaction } from '@vision/shared/db/transaction';
import { claimDeadDrafts } from '../db/dead-drafts.ts';
import { removeDeadKeys } from '../db/idempotency-keys.ts';
import { moveTask, TaskMovedError } from '../db/move-task.ts';
import type { Task } from '../domain/task.ts';
import type { UndoDeps } from './deps.ts';
import { releaseVideos } from './release-refunded.ts';
import { undoDraft } from './undo-draft.ts';

const BATCH = 20;
const LEASE_MS = 15_000;

/** Undoes creates whose process died before the backend could be asked. @returns how many things it did. */
export async function recoverCreates(deps: UndoDeps): Promise<number> {
  let undone = 0;
  for (const draft of await claimDeadDrafts(deps.db, { limit: BATCH, leaseMs: LEASE_MS })) {
    try {
      await undoDraft(deps, await asUndoing(deps, draft));
      undone += 1;
    } catch (error) {
      if (error instanceof TaskMovedError) continue;
      deps.logger.warn({ err: error, task_id: draft.taskId }, 'a dead create could not be undone yet');
    }
  }
  await removeDeadKeys(deps.db);
  return undone + (await releaseVideos(deps));
}

async function asUndoing({ db }: UndoDeps, draft: Task): Promise<Task> {
  if (draft.status === 'undoing') return draft;
  return inTransaction(db, (tx) => moveTask(tx, draft, { move: 'give_up', recoverAfterMs: LEASE_MS }));
}
