import type { Job } from '@vision/contracts/inference';
import { crashPoint } from '@vision/shared/crash-point';
import { fail } from '@vision/contracts/errors';
import { checkAgain, noteStopSent } from '../../db/jobs.ts';
import { TaskMovedError } from '../../db/move-task.ts';
import { findVerification } from '../../db/task-moves.ts';
import { findAnyTask } from '../../db/tasks.ts';
import { isEvidence } from '../../domain/job-progress.ts';
import type { PublicTask, VisibleTask } from '../../domain/task.ts';
import type { Deps, MoveDeps, RollbackDeps } from '../deps.ts';
import { moveNow } from '../follow/move-now.ts';
import { releaseRefunded } from '../create/release-refunded.ts';

export interface VerifyInput {
  taskId: string;
  outcome: 'created' | 'not_created';
  /** The operator and the finding; stored with the move. */
  who: string;
  note: string;
}

type VerifyDeps = MoveDeps & RollbackDeps & Pick<Deps, 'inference' | 'wakeReconciler'>;

const moveOf = { created: 'verify_created', not_created: 'verify_not_created' } as const;

/**
 * Applies the finding of an operator about a task whose submission is unknown. Before `not_created` takes effect, the
 * backend must show no job that ran, and acknowledge a stop for the id, so that a late submission starts no job.
 * @throws AppError conflict when the task does not wait for a verification, unless it repeats the same outcome, and
 * with the evidence when the job exists; OP-TASK-UPSTREAM-DOWN.
 */
export async function verifyTask(deps: VerifyDeps, input: VerifyInput): Promise<VisibleTask> {
  const task = await findAnyTask(deps.db, input.taskId);
  if (!task) throw fail.notFound('There is no such task.', 'task_not_found');
  if (task.kind === 'image' || task.status !== 'resolving') return answerDecided(deps, task, input);
  if (input.outcome === 'not_created') {
    await refuseAgainstProof(deps, task);
    crashPoint('tasks.verify.stop-acknowledged');
  }
  try {
    return await decide(deps, task, input);
  } catch (error) {
    if (error instanceof TaskMovedError) return verifyTask(deps, input);
    throw error;
  }
}

/** Queries before it stops: a running job belongs to the caller. */
async function refuseAgainstProof(deps: VerifyDeps, task: PublicTask): Promise<void> {
  const [job] = await deps.inference.readJobs([task.taskId]);
  if (job ? isEvidence(task, job) : task.job.seenAt !== null) throw await disproved(deps, task, job);
  const stopped = await deps.inference.stopJob(task.taskId);
  if (!stopped.wasLive && !isEvidence(task, stopped.job)) return;
  // The job arrived between the two calls. Recorded, because the stopped job would be no evidence later.
  await noteStopSent(deps.db, task.taskId, { jobSeen: true });
  throw await disproved(deps, task, stopped.job);
}

/** The reconciler queries at once: with that evidence it moves the task. */
async function disproved({ db, wakeReconciler }: VerifyDeps, task: PublicTask, job: Job | undefined) {
  await checkAgain(db, [task.taskId], 0);
  wakeReconciler();
  return fail.verificationDisproved({
    job_status: job?.status ?? null,
    frames_published: job?.frames_published ?? 0,
    seen_before: task.job.seenAt !== null,
  });
}

async function decide(deps: VerifyDeps, task: PublicTask, { outcome, who, note }: VerifyInput): Promise<PublicTask> {
  const moved = await moveNow(deps, task, { move: moveOf[outcome], who, note });
  crashPoint('tasks.verify.moved');
  if (moved.status === 'refunded') await releaseRefunded(deps, moved);
  return moved;
}

async function answerDecided({ db }: VerifyDeps, task: VisibleTask, { outcome }: VerifyInput): Promise<VisibleTask> {
  const verification = await findVerification(db, task.taskId);
  if (verification === moveOf[outcome]) return task;
  if (verification !== undefined) throw fail.verificationContradicts(task.status);
  throw fail.taskNotResolving(task.status);
}
