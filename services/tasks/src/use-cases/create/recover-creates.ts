import { inTransaction } from '@vision/shared/db/transaction';
import { claimDeadDrafts } from '../../db/dead-drafts.ts';
import { removeDeadKeys } from '../../db/idempotency-keys.ts';
import { moveTask, passOverMoved } from '../../db/move-task.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps, UndoDeps } from '../deps.ts';
import { releaseVideos } from './release-refunded.ts';
import { finishUndo } from './undo-create.ts';

type RecoverDeps = UndoDeps & Pick<Deps, 'loops'>;

/** Create requests that are rolled back at once: one that waits for the object store holds up no other. */
const AT_ONCE = 20;
const LEASE_MS = 15_000;

/** Undoes creates whose process died before `submitting` was stored. @returns how many things it did. */
export async function recoverCreates(deps: RecoverDeps): Promise<number> {
  const loop = deps.loops.of('recovery');
  let undone = 0;
  const undo = async (draft: Task) => {
    await finishUndo(deps, await asUndoing(deps, draft));
    undone += 1;
  };
  const drafts = await claimDeadDrafts(deps.db, { limit: AT_ONCE, leaseMs: LEASE_MS });
  await Promise.all(drafts.map((draft) => loop.attempt(draft.taskId, () => undo(draft).catch(passOverMoved))));
  await removeDeadKeys(deps.db);
  return undone + (await releaseVideos(deps));
}

async function asUndoing({ db }: UndoDeps, draft: Task): Promise<Task> {
  if (draft.status === 'undoing') return draft;
  return inTransaction(db, (tx) => moveTask(tx, draft, { move: 'give_up', recoverAfterMs: LEASE_MS }));
}
