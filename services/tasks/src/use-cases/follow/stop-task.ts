import { setTimeout as delay } from 'node:timers/promises';
import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/contracts/errors';
import { noteStopSent } from '../../db/jobs.ts';
import { TaskMovedError } from '../../db/move-task.ts';
import { findAnyTask, findVideoTask, requestStop } from '../../db/tasks.ts';
import type { StoppedBy } from '../../domain/moves.ts';
import { isEnded, isPublic, isUnconfirmed } from '../../domain/task.ts';
import type { PublicTask, VisibleTask } from '../../domain/task.ts';
import type { Deps, MoveDeps } from '../deps.ts';
import { getTask } from './get-task.ts';
import { moveNow } from './move-now.ts';

type StopDeps = MoveDeps & Pick<Deps, 'images' | 'inference' | 'logger' | 'settings'>;

const POLL_MS = 100;

/**
 * Stops a task and waits for its end, at most `stopWaitMs`; after that the reconciler completes the stop. If the
 * backend may not have the job yet, the stop request is stored, the backend is called at once, and the current task is
 * returned.
 * @throws AppError OP-TASK-NOT-STOPPABLE when it has ended.
 */
export async function stopTask(
  deps: StopDeps,
  { subject, taskId }: { subject: string; taskId: string },
): Promise<PublicTask> {
  return stop(deps, await getTask(deps, { subject, taskId }), 'caller');
}

/** Stops a task of any owner for an operator. */
export async function stopTaskAsOperator(
  deps: StopDeps,
  { who, taskId }: { who: string; taskId: string },
): Promise<PublicTask> {
  const task = await findAnyTask(deps.db, taskId);
  if (!task) throw fail.notFound('There is no such task.', 'task_not_found');
  return stop(deps, task, { operator: who });
}

async function stop(deps: StopDeps, task: VisibleTask, by: StoppedBy): Promise<PublicTask> {
  if (isEnded(task.status) || task.kind === 'image') throw fail.notStoppable(task.status);
  const asked = await storeWish(deps, task, by);
  if (isEnded(asked.status)) throw fail.notStoppable(asked.status);
  crashPoint('tasks.stop.stored');
  // The wait for the answer of the backend is part of this time.
  const deadline = performance.now() + deps.settings.stopWaitMs;
  if (task.status !== 'stopping') await tellBackend(deps, asked);
  crashPoint('tasks.stop.sent');
  deps.wakeReconciler();
  return asked.status === 'stopping' ? untilEnded(deps, asked, deadline) : currentOr(deps, asked);
}

/** Repeats when the task moved meanwhile; every move brings it closer to its end, so the loop terminates. */
async function storeWish(deps: StopDeps, task: PublicTask, by: StoppedBy): Promise<PublicTask> {
  try {
    if (task.status === 'running') return await moveNow(deps, task, { move: 'stop', by });
    if (isUnconfirmed(task.status)) await requestStop(deps.db, task.taskId);
  } catch (error) {
    if (!(error instanceof TaskMovedError)) throw error;
  }
  const current = await findVideoTask(deps.db, task.taskId);
  if (!current || !isPublic(current)) throw fail.notFound('There is no such task.', 'task_not_found');
  return current.status === 'running' ? storeWish(deps, current, by) : current;
}

/** A failed stop is repeated by the reconciler until the backend confirms it. */
async function tellBackend({ db, inference, logger }: StopDeps, { taskId }: PublicTask): Promise<void> {
  const jobSeen = await inference.stopJob(taskId).then(
    ({ wasLive }) => wasLive,
    (error: unknown) => {
      logger.warn({ err: error, task_id: taskId }, 'stop not delivered yet; it is repeated');
      return false;
    },
  );
  await noteStopSent(db, taskId, { jobSeen });
}

async function untilEnded(deps: StopDeps, task: PublicTask, deadline: number): Promise<PublicTask> {
  for (;;) {
    const current = await currentOr(deps, task);
    if (isEnded(current.status) || performance.now() >= deadline) return current;
    await delay(POLL_MS);
  }
}

/** The current task; the given one if it no longer exists. */
async function currentOr({ db }: StopDeps, task: PublicTask): Promise<PublicTask> {
  const current = await findVideoTask(db, task.taskId);
  return current && isPublic(current) ? current : task;
}
