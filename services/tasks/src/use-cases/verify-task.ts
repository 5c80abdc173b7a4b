import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/shared/errors';
import { moveTask, TaskMovedError } from '../db/move-task.ts';
import { findVerification } from '../db/task-moves.ts';
import { findAnyTask } from '../db/tasks.ts';
import { isPublic } from '../domain/task.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';
import { releaseRefunded } from './release-refunded.ts';

export interface VerifyInput {
  taskId: string;
  outcome: 'created' | 'not_created';
  /** Who found out, and what; kept with the move. */
  who: string;
  note: string;
}

type VerifyDeps = Pick<
  Deps,
  'db' | 'clock' | 'inference' | 'quota' | 'objects' | 'signals' | 'logger' | 'wakeRelay' | 'wakeReconciler'
>;

const moves = { created: 'verify_created', not_created: 'verify_not_created' } as const;

/**
 * Applies what an operator found out about a task whose submission is unknown. Before `not_created` takes effect the backend
 * must acknowledge a stop for the id, so that a submission still under way starts nothing.
 * @throws AppError conflict when the task is not waiting, unless the same outcome was said before; OP-TASK-UPSTREAM-DOWN.
 */
export async function verifyTask(deps: VerifyDeps, input: VerifyInput): Promise<Task> {
  const task = await findAnyTask(deps.db, input.taskId);
  if (!task || !isPublic(task.status)) throw fail.notFound('There is no such task.', 'task_not_found');
  if (task.status !== 'resolving') return answerDecided(deps, task, input);
  if (input.outcome === 'not_created') {
    await deps.inference.stopJob(task.taskId);
    crashPoint('tasks.verify.stop-acknowledged');
  }
  const patch = {
    check_at: deps.db.fn.now(),
    reason: `verified_${input.outcome}`,
    ...(input.outcome === 'created' ? { job_seen_at: deps.db.fn.now() } : {}),
  };
  const change = { patch, actor: 'operator' as const, note: `${input.who}: ${input.note}` };
  try {
    const moved = await inTransaction(deps.db, (tx) =>
      moveTask(tx, { task, move: moves[input.outcome], clock: deps.clock }, change),
    );
    crashPoint('tasks.verify.moved');
    deps.signals.moved(moves[input.outcome]);
    deps.wakeRelay();
    deps.wakeReconciler();
    if (input.outcome === 'not_created') await releaseRefunded(deps, moved);
    deps.logger.info({ task_id: task.taskId, outcome: input.outcome, who: input.who }, 'a task was verified');
    return moved;
  } catch (error) {
    if (error instanceof TaskMovedError) return verifyTask(deps, input);
    throw error;
  }
}

async function answerDecided({ db }: VerifyDeps, task: Task, { outcome }: VerifyInput): Promise<Task> {
  const said = await findVerification(db, task.taskId);
  if (said === moves[outcome]) return task;
  if (said !== undefined) throw fail.verificationContradicts(task.status);
  throw fail.taskNotResolving(task.status);
}
