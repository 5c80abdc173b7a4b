import { setTimeout as delay } from 'node:timers/promises';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/shared/errors';
import { noteStopSent } from '../db/jobs.ts';
import { moveTask, TaskMovedError } from '../db/move-task.ts';
import { findAnyTask, requestStop } from '../db/tasks.ts';
import { isEnded } from '../domain/task.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';
import { getTask } from './get-task.ts';

type StopDeps = Pick<
  Deps,
  'db' | 'clock' | 'images' | 'inference' | 'limits' | 'logger' | 'signals' | 'wakeRelay' | 'wakeReconciler'
>;

const POLL_MS = 100;

/**
 * Stops a task and waits for the end, at most `stopWaitMs`; the reconciler drives the stop on after that. A task that may not
 * be with the backend yet remembers the wish: the backend is told at once, and the task is returned as it is.
 * @throws AppError OP-TASK-NOT-STOPPABLE when it has ended.
 */
export async function stopTask(
  deps: StopDeps,
  { subject, taskId }: { subject: string; taskId: string },
): Promise<Task> {
  const task = await getTask(deps, { subject, taskId });
  if (isEnded(task.status) || task.kind === 'image') throw fail.notStoppable(task.status);
  const stopping = await begin(deps, task);
  if (isEnded(stopping.status)) throw fail.notStoppable(stopping.status);
  crashPoint('tasks.stop.stored');
  // A backend that says nothing to the stop itself takes its time out of this.
  const deadline = Date.now() + deps.limits.stopWaitMs;
  if (task.status !== 'stopping') await send(deps, stopping);
  crashPoint('tasks.stop.sent');
  deps.wakeReconciler();
  return stopping.status === 'stopping'
    ? settled(deps, stopping, deadline)
    : ((await findAnyTask(deps.db, taskId)) ?? stopping);
}

/** Stores the wish. Repeats when the task moved meanwhile; every move brings it nearer to an end, so this ends. */
async function begin(deps: StopDeps, task: Task): Promise<Task> {
  try {
    if (task.status === 'running') {
      const patch = { stop_requested_at: deps.db.fn.now(), check_at: deps.db.fn.now() };
      const moved = await inTransaction(deps.db, (tx) =>
        moveTask(tx, { task, move: 'stop', clock: deps.clock }, { patch, actor: 'caller' }),
      );
      deps.signals.moved('stop');
      deps.wakeRelay();
      return moved;
    }
    if (task.status === 'submitting' || task.status === 'resolving') await requestStop(deps.db, task.taskId);
  } catch (error) {
    if (!(error instanceof TaskMovedError)) throw error;
  }
  const current = await findAnyTask(deps.db, task.taskId);
  if (!current) throw fail.notFound('There is no such task.', 'task_not_found');
  return current.status === 'running' ? begin(deps, current) : current;
}

/** A stop that does not get through now is repeated by the reconciler until it is confirmed. */
async function send({ db, inference, logger }: StopDeps, task: Task): Promise<void> {
  const seen = { is: false };
  try {
    seen.is = (await inference.stopJob(task.taskId)).wasLive;
  } catch (error) {
    logger.warn({ err: error, task_id: task.taskId }, 'a stop did not get through yet');
  }
  await noteStopSent(db, task.taskId, seen.is);
}

async function settled({ db }: StopDeps, task: Task, deadline: number): Promise<Task> {
  for (;;) {
    const current = (await findAnyTask(db, task.taskId)) ?? task;
    if (isEnded(current.status) || Date.now() >= deadline) return current;
    await delay(POLL_MS);
  }
}
