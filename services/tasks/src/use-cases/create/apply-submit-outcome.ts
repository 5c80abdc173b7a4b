import { crashPoint } from '@vision/shared/crash-point';
import { throughOutage } from '@vision/creation/through-outage';
import { fail } from '@vision/contracts/errors';
import type { SubmitOutcome } from '@vision/creation/inference/submit';
import { TaskMovedError } from '../../db/move-task.ts';
import { findVideoTask } from '../../db/tasks.ts';
import type { Change } from '../../domain/moves.ts';
import { isPublic } from '../../domain/task.ts';
import type { PublicTask, Task, TaskIn } from '../../domain/task.ts';
import type { SubmitDeps } from '../deps.ts';
import { moveNow } from '../follow/move-now.ts';
import { releaseRefunded } from './release-refunded.ts';
import { rollBackSubmission } from './roll-back-create.ts';

/**
 * Stores the outcome of a submission. If the reconciler or the recovery wrote first (this process was delayed, or the
 * database unavailable), their state counts. Only this process knows that no job was created, so it retries storing
 * that through an outage: otherwise the task would wait for an operator.
 * @throws AppError of the outcome `not_created`, after the rollback.
 */
export async function applyOutcome(
  deps: SubmitDeps,
  task: TaskIn<'submitting' | 'resolving'>,
  outcome: SubmitOutcome,
): Promise<PublicTask> {
  try {
    switch (outcome.outcome) {
      case 'accepted':
        return await record(deps, task, { move: 'accept', job: outcome.job });
      case 'unknown':
        return await record(deps, task, { move: 'lose_track', reason: outcome.reason });
      case 'refused': {
        const refunded = await throughOutage(() => record(deps, task, { move: 'refuse', reason: outcome.reason }));
        crashPoint('tasks.submit.refused');
        await releaseRefunded(deps, refunded);
        return refunded;
      }
      case 'not_created':
        await throughOutage(() => rollBackSubmission(deps, task));
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
