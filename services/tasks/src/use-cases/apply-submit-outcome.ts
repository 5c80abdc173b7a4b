import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/shared/errors';
import type { SubmitOutcome } from '@vision/shared/inference-client';
import { freeKey } from '../db/idempotency-keys.ts';
import { moveTask, tellChange, TaskMovedError } from '../db/move-task.ts';
import { TASKS } from '../db/task-row.ts';
import { findAnyTask } from '../db/tasks.ts';
import type { Move, Task } from '../domain/task.ts';
import type { SubmitDeps } from './submit-task.ts';

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
        await giveBack(deps, task);
        return refunded;
      }
      case 'not_created':
        await remove(deps, task);
        await giveBack(deps, task);
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
async function remove({ db, wakeRelay }: SubmitDeps, task: Task): Promise<void> {
  await inTransaction(db, async (tx) => {
    const removed = await tx(TASKS)
      .where({ task_id: task.taskId, status: 'submitting', version: task.version, attempt: task.attempt })
      .delete();
    if (removed !== 1) throw new TaskMovedError('removal lost');
    await freeKey(tx, task.taskId);
    await tellChange(tx, { ...task, status: 'refunded', version: task.version + 1, updatedAt: new Date() });
  });
  wakeRelay();
  crashPoint('tasks.submit.removed');
}

/** At once, so that the unit is free before the caller's next request; guaranteed by the event and the sweeper. */
async function giveBack({ quota, objects, logger }: SubmitDeps, task: Task): Promise<void> {
  const undone = await Promise.allSettled([
    quota.refund(task.reservationId, task.subject),
    task.objectKey === null ? undefined : objects.remove([task.objectKey]),
  ]);
  for (const result of undone) {
    if (result.status === 'rejected')
      logger.warn({ err: result.reason as unknown, task_id: task.taskId }, 'left to events and sweeper');
  }
}
