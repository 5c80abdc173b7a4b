import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/shared/errors';
import { TaskMovedError } from '../db/move-task.ts';
import { findVerification } from '../db/task-moves.ts';
import { findAnyTask } from '../db/tasks.ts';
import type { PublicTask, VisibleTask } from '../domain/task.ts';
import type { Deps, MoveDeps, UndoDeps } from './deps.ts';
import { moveNow } from './move-now.ts';
import { releaseRefunded } from './release-refunded.ts';

export interface VerifyInput {
  taskId: string;
  outcome: 'created' | 'not_created';
  /** Who found out, and what; kept with the move. */
  who: string;
  note: string;
}

type VerifyDeps = MoveDeps & UndoDeps & Pick<Deps, 'inference'>;

const moveOf = { created: 'verify_created', not_created: 'verify_not_created' } as const;

/**
 * Applies what an operator found out about a task whose submission is unknown. Before `not_created` takes effect the
 * backend must acknowledge a stop for the id, so that a submission still under way starts nothing.
 * @throws AppError conflict when the task is not waiting, unless the same outcome was said before;
 * OP-TASK-UPSTREAM-DOWN.
 */
export async function verifyTask(deps: VerifyDeps, input: VerifyInput): Promise<VisibleTask> {
  const task = await findAnyTask(deps.db, input.taskId);
  if (!task) throw fail.notFound('There is no such task.', 'task_not_found');
  if (task.kind === 'image' || task.status !== 'resolving') return answerDecided(deps, task, input);
  if (input.outcome === 'not_created') {
    await deps.inference.stopJob(task.taskId);
    crashPoint('tasks.verify.stop-acknowledged');
  }
  try {
    return await decide(deps, task, input);
  } catch (error) {
    if (error instanceof TaskMovedError) return verifyTask(deps, input);
    throw error;
  }
}

async function decide(deps: VerifyDeps, task: PublicTask, { outcome, who, note }: VerifyInput): Promise<PublicTask> {
  const moved = await moveNow(deps, task, { move: moveOf[outcome], who, note });
  crashPoint('tasks.verify.moved');
  if (moved.status === 'refunded') await releaseRefunded(deps, moved);
  return moved;
}

async function answerDecided({ db }: VerifyDeps, task: VisibleTask, { outcome }: VerifyInput): Promise<VisibleTask> {
  const said = await findVerification(db, task.taskId);
  if (said === moveOf[outcome]) return task;
  if (said !== undefined) throw fail.verificationContradicts(task.status);
  throw fail.taskNotResolving(task.status);
}
