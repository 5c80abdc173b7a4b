import { standingOf } from '@vision/objects/bucket-owner';
import type { Standing } from '@vision/objects/bucket-owner';
import { inTransaction } from '@vision/shared/db/transaction';
import { claimDeadDrafts } from '../../db/dead-drafts.ts';
import { removeDeadKeys } from '../../db/idempotency-keys.ts';
import { moveTask, passOverMoved } from '../../db/move-task.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps, RollbackDeps } from '../deps.ts';
import { videosOf } from '../retain/sweep-videos.ts';
import type { SweepDeps } from '../retain/sweep-videos.ts';
import { releaseVideos } from './release-refunded.ts';
import { finishRollback } from './roll-back-create.ts';

type RecoverDeps = RollbackDeps & SweepDeps & Pick<Deps, 'loops'>;

/** Concurrent rollbacks: a request that waits for the object store delays no other. */
const AT_ONCE = 20;
const LEASE_MS = 15_000;

/**
 * Rolls back create requests whose process died before `submitting` was stored. A restored database keeps their videos:
 * a draft of the copy may have become a task since. @returns the number of rollbacks and removed videos.
 */
export async function recoverCreates(deps: RecoverDeps): Promise<number> {
  const loop = deps.loops.of('recovery');
  let known: Promise<Standing> | undefined;
  const standing = () => (known ??= standingOf(videosOf(deps)));
  let rolledBack = 0;
  const rollBack = async (draft: Task) => {
    const undoing = await asUndoing(deps, draft);
    const isKept = draft.objectKey !== null && (await standing()) === 'restored';
    await finishRollback(deps, isKept ? { ...undoing, objectKey: null } : undoing);
    rolledBack += 1;
  };
  const drafts = await claimDeadDrafts(deps.db, { limit: AT_ONCE, leaseMs: LEASE_MS });
  await Promise.all(drafts.map((draft) => loop.attempt(draft.taskId, () => rollBack(draft).catch(passOverMoved))));
  await removeDeadKeys(deps.db);
  return rolledBack + (await releaseVideos(deps));
}

async function asUndoing({ db }: RollbackDeps, draft: Task): Promise<Task> {
  if (draft.status === 'undoing') return draft;
  return inTransaction(db, (tx) => moveTask(tx, draft, { move: 'give_up', recoverAfterMs: LEASE_MS }));
}
