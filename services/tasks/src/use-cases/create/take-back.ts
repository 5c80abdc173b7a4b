import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { freeKey } from '../../db/idempotency-keys.ts';
import { moveTask, tellUndone } from '../../db/move-task.ts';
import type { Task } from '../../domain/task.ts';
import type { SubmitDeps } from '../deps.ts';
import { undoBriefly } from './undo-draft.ts';

/**
 * Nothing was created, so there is no task and the key is free. The other services have heard of it: a last snapshot in
 * `refunded` returns the unit even if this process dies.
 * @throws TaskMovedError when it is not `submitting` any more.
 */
export async function takeBack(deps: SubmitDeps, task: Task): Promise<void> {
  const change = { move: 'take_back' as const, recoverAfterMs: deps.settings.leaseMs };
  const undoing = await inTransaction(deps.db, async (tx) => {
    const moved = await moveTask(tx, task, change);
    await freeKey(tx, task.taskId);
    await tellUndone(tx, moved);
    return moved;
  });
  deps.signals.moved(undoing, change);
  deps.wakeRelay();
  crashPoint('tasks.submit.taken-back');
  await undoBriefly(deps, undoing);
}
