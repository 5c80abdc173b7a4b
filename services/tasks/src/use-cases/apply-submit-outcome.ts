import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/shared/errors';
import type { SubmitOutcome } from '@vision/shared/inference-client';
import { freeKey } from '../db/idempotency-keys.ts';
import { moveTask, TaskMovedError, tellUndone } from '../db/move-task.ts';
import { findAnyTask, leaseUntil } from '../db/tasks.ts';
import type { Move, Task } from '../domain/task.ts';
import { releaseRefunded } from './release-refunded.ts';
import type { SubmitDeps } from './deps.ts';
import { undoBriefly } from './undo-draft.ts';

/**
 * Writes down what became of a submit. When the recovery wrote first (this process was held up), the task is as it says.
 * @throws AppError of the outcome `not_created`, after everything was undone.
 */
export async function applyOutcome(deps: SubmitDeps, task: Task, outcome: SubmitOutcome): Promise<Task> {
  try {
    switch (outcome.outcome) {
      case 'accepted':
        return await move(deps, task, 'accept', {
          check_at: deps.db.fn.now(),
          job_status: outcome.job.status,
          job_seen_at: deps.db.fn.now(),
          job_frames_published: outcome.job.frames_published,
        });
      case 'unknown':
        deps.logger.warn({ task_id: task.taskId, reason: outcome.reason }, 'the outcome of a submission is unknown');
        return await move(deps, task, 'lose_track', { check_at: deps.db.fn.now(), reason: outcome.reason });
      case 'refused': {
        deps.logger.info({ task_id: task.taskId, reason: outcome.reason }, 'the backend refused a task');
        const refunded = await move(deps, task, 'refuse', { reason: outcome.reason });
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
    const current = await findAnyTask(deps.db, task.taskId);
    if (!current) throw fail.sysUnavailable('task_taken_over', error);
    return current;
  }
}

async function move(deps: SubmitDeps, task: Task, name: Move, patch: Record<string, unknown>): Promise<Task> {
  const moved = await inTransaction(deps.db, (tx) => moveTask(tx, { task, move: name, clock: deps.clock }, { patch }));
  deps.signals.moved(name);
  deps.wakeRelay();
  deps.wakeReconciler();
  crashPoint('tasks.submit.outcome-written');
  return moved;
}

/**
 * Nothing was created, so there is no task and the key is free. The other services have heard of it: a last snapshot in
 * `refunded` gives the unit back whatever happens to this process.
 */
async function takeBack(deps: SubmitDeps, task: Task): Promise<void> {
  const undoing = await inTransaction(deps.db, async (tx) => {
    const patch = { lease_until: leaseUntil(tx, deps.limits.leaseMs), check_at: null };
    const moved = await moveTask(tx, { task, move: 'take_back', clock: deps.clock }, { patch });
    await freeKey(tx, task.taskId);
    await tellUndone(tx, moved);
    return moved;
  });
  deps.signals.moved('take_back');
  deps.wakeRelay();
  crashPoint('tasks.submit.taken-back');
  await undoBriefly(deps, undoing);
}
