import { crashPoint } from '@vision/shared/crash-point';
import type { JobSource } from '@vision/shared/contracts/inference';
import type { SubjectLimits } from '@vision/shared/contracts/limits';
import type { SceneEntry } from '@vision/shared/contracts/scenes';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/shared/errors';
import { finishKey } from '../db/idempotency-keys.ts';
import type { Claim } from '../db/idempotency-keys.ts';
import { moveTask, TaskMovedError } from '../db/move-task.ts';
import { countActive, leaseUntil, lockSubject } from '../db/tasks.ts';
import type { Task } from '../domain/task.ts';
import { applyOutcome } from './apply-submit-outcome.ts';
import type { SubmitDeps } from './deps.ts';

export interface SubmitInput {
  draft: Task;
  claim: Claim;
  scene: SceneEntry;
  source: JobSource;
  limits: SubjectLimits;
}

/**
 * The way of a checked draft: counted among the active tasks → one unit reserved → `submitting` committed → handed to the
 * backend → its outcome. Until `submitting` a failure leaves a draft for the caller to give up; from then on the task stands.
 */
export async function submitTask(deps: SubmitDeps, input: SubmitInput, onStanding: () => void): Promise<Task> {
  const admitted = await fenced(() => admit(deps, input));
  crashPoint('tasks.submit.admitted');
  await reserve(deps, input, admitted);
  crashPoint('tasks.submit.reserved');
  const submitting = await fenced(() => commitSubmitting(deps, input, admitted));
  onStanding();
  crashPoint('tasks.submit.submitting');
  const outcome = await deps.inference.submitJob({
    job_id: submitting.taskId,
    scene_code: submitting.sceneCode,
    lower_bound: submitting.lowerBound,
    source: input.source,
  });
  crashPoint('tasks.submit.sent');
  return applyOutcome(deps, submitting, outcome);
}

async function admit({ db, clock }: SubmitDeps, { draft, scene, limits }: SubmitInput): Promise<Task> {
  return inTransaction(db, async (tx) => {
    await lockSubject(tx, draft.subject);
    const active = await countActive(tx, draft.subject);
    if (active >= limits.active_tasks) {
      throw fail.rateLimited('active_tasks', 10, { limit: limits.active_tasks, active });
    }
    const patch = {
      admitted_at: tx.fn.now(),
      scene_code: scene.scene_code,
      lower_bound: scene.lower_bound,
      default_min_score: scene.default_min_score,
    };
    return moveTask(tx, { task: draft, move: 'admit', clock }, { patch });
  });
}

async function reserve({ quota }: SubmitDeps, { claim, limits }: SubmitInput, task: Task): Promise<void> {
  const reply = await quota.reserve(task.reservationId, task.subject, {
    idempotency_key: claim.key,
    kind: 'video',
    units: 1,
    limit: limits.video_tasks_per_day,
  });
  if (reply.outcome === 'exhausted') throw fail.dailyExhausted(reply);
  if (reply.outcome === 'conflict') throw fail.keyReused();
  if (reply.outcome === 'closed') throw fail.sysUnavailable('create_taken_over');
}

/** A process that was held up for longer than its lease finds its draft taken over: its client asks again. */
async function fenced<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof TaskMovedError ? fail.sysUnavailable('create_taken_over', error) : error;
  }
}

/** Committed before the call: from here on nobody can tell from outside whether the backend was asked. */
async function commitSubmitting(
  { db, clock, limits, wakeRelay }: SubmitDeps,
  { claim }: SubmitInput,
  task: Task,
): Promise<Task> {
  const submitting = await inTransaction(db, async (tx) => {
    const moved = await moveTask(
      tx,
      { task, move: 'submit', clock },
      { patch: { check_at: leaseUntil(tx, limits.submitTimeoutMs + limits.leaseMs / 2) } },
    );
    if (!(await finishKey(tx, claim))) throw fail.sysUnavailable('create_taken_over');
    return moved;
  });
  wakeRelay();
  return submitting;
}
