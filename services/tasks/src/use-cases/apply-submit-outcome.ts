import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/shared/errors';
import type { SubmitOutcome } from '@vision/shared/inference-client';
import { freeKey } from '../db/idempotency-keys.ts';
import { moveTask, TaskMovedError, tellUndone } from '../db/move-task.ts';
import { findVideoTask } from '../db/tasks.ts';
import type { Change } from '../domain/moves.ts';
import { isPublic } from '../domain/task.ts';
import type { PublicTask, Task, TaskIn } from '../domain/task.ts';
import type { SubmitDeps } from './deps.ts';
import { moveNow } from './move-now.ts';
import { releaseRefunded } from './release-refunded.ts';
import { undoBriefly } from './undo-draft.ts';

/**
 * Writes down what became of a submission. When the recovery wrote first (this process was held up), the task is as
 * it says.
 * @throws AppError of the outcome `not_created`, after everything was undone.
 */
export async function applyOutcome(
  deps: SubmitDeps,
  task: TaskIn<'submitting'>,
  outcome: SubmitOutcome,
): Promise<PublicTask> {
  try {
    switch (outcome.outcome) {
      case 'accepted':
        return await record(deps, task, { move: 'accept', job: outcome.job });
      case 'unknown':
        return await record(deps, task, { move: 'lose_track', reason: outcome.reason });
      case 'refused': {
        const refunded = await record(deps, task, { move: 'refuse', reason: outcome.reason });
        crashPoint('tasks.submit.refused');
        await releaseRefunded(deps, refunded);
        return refunded;
      }
      case 'not_created':
        await takeBack(deps, task);
        throw outcome.error;
    }
  } catch (error) {
    if (!(error instanceof TaskMovedError)) throw error;
    const current = await findVideoTask(deps.db, task.taskId);
    if (!current || !isPublic(current)) throw fail.sysUnavailable('task_taken_over', error);
    return current;
  }
}

async function record<C extends Change & { move: 'accept' | 'lose_track' | 'refuse' }>(
  deps: SubmitDeps,
  task: Task,
  change: C,
) {
  const moved = await moveNow(deps, task, change);
  crashPoint('tasks.submit.outcome-written');
  return moved;
}

/**
 * Nothing was created, so there is no task and the key is free. The other services have heard of it: a last snapshot in
 * `refunded` gives the unit back whatever happens to this process.
 */
async function takeBack(deps: SubmitDeps, task: TaskIn<'submitting'>): Promise<void> {
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
