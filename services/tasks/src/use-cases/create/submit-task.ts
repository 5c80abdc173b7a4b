import { giveUpFeature } from '@vision/contracts/inference';
import type { JobSource, NewJob } from '@vision/contracts/inference';
import { defaultLimits } from '@vision/contracts/limits';
import type { SceneEntry } from '@vision/contracts/scenes';
import { crashPoint } from '@vision/shared/crash-point';
import { throughOutage } from '@vision/creation/through-outage';
import { inTransaction } from '@vision/shared/db/transaction';
import { asAppError, fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';
import { asUnavailable } from '@vision/shared/unavailable';
import { finishKey } from '../../db/idempotency-keys.ts';
import type { Claim } from '../../db/idempotency-keys.ts';
import type { SlotClaim } from '../../db/slot-claims.ts';
import { moveTask, TaskMovedError } from '../../db/move-task.ts';
import { countActive, findVideoTask, lockSubject } from '../../db/tasks.ts';
import { isUnconfirmed } from '../../domain/task.ts';
import type { PublicTask, Task, TaskIn } from '../../domain/task.ts';
import { applyOutcome } from './apply-submit-outcome.ts';
import type { SubmitOutcome } from '@vision/creation/inference/submit';
import type { AnswerTime } from './answer-time.ts';
import type { Deps, SubmitDeps } from '../deps.ts';
import { dayExhausted } from './refuse-exhausted.ts';

export interface CheckedDraft {
  draft: Task;
  claim: Claim;
  caller: Caller;
  scene: SceneEntry;
  source: JobSource;
  /** For the capacity query and the submission. */
  time: AnswerTime;
}

/** A task that is committed as `submitting` and not sent yet, with the source that the backend will analyse. */
export interface Submission {
  outcome: 'submitting';
  task: TaskIn<'submitting' | 'resolving'>;
  source: JobSource;
  /** Optional features of the contract that the backend reports. */
  features: readonly string[];
  time: AnswerTime;
}

/** A task after its submission, and the processor time that the backend spent on inspecting its source. */
interface SubmittedTask {
  task: PublicTask;
  processorMs: number;
}

/** @throws AppError OP-TASK-SCENE-UNAVAILABLE. */
export function requireScene({ scenes }: Pick<Deps, 'scenes'>, sceneCode: string): SceneEntry {
  const scene = scenes.findEnabled(sceneCode);
  if (!scene) throw fail.sceneUnavailable(sceneCode);
  return scene;
}

/**
 * Commits a checked draft: counted among the active tasks → a slot at the backend → one unit reserved → `submitting`.
 * After a failure the caller rolls the draft back; after the commit no other code can determine whether the backend was
 * called, so the task stays.
 */
export async function commitSubmission(deps: SubmitDeps, checked: CheckedDraft): Promise<Submission> {
  const admitted = await fenced(admit(deps, checked));
  crashPoint('tasks.submit.admitted');
  const features = await deps.slots.take(slotFor(checked.draft, checked.caller), checked.time);
  await reserve(deps, checked, admitted);
  crashPoint('tasks.submit.reserved');
  const task = await fenced(commitSubmitting(deps, checked, admitted));
  crashPoint('tasks.submit.submitting');
  return { outcome: 'submitting', task, source: checked.source, features, time: checked.time };
}

/**
 * Submits a committed task to the backend and stores the outcome.
 * @throws AppError when no job was created.
 */
export async function submitTask(deps: SubmitDeps, submission: Submission): Promise<SubmittedTask> {
  const { task, time } = submission;
  const job = jobOf(submission);
  const sent = refusable.filter((field) => job[field] !== undefined);
  const outcome = await submitWithout(deps, job, time, sent);
  crashPoint('tasks.submit.sent');
  return { task: await applyOutcome(deps, task, outcome), processorMs: outcome.processorMs };
}

/** Optional fields of a job, the latest first. */
const refusable = ['give_up_after_s', 'snapshots'] as const;

/**
 * The replica that reported the features may not be the replica that gets the job: one of an earlier release refuses a
 * job with an unknown field before it stores any of it. Then the job is sent without the field.
 */
async function submitWithout(
  deps: SubmitDeps,
  job: NewJob,
  time: AnswerTime,
  [field, ...others]: readonly (keyof NewJob)[],
): Promise<SubmitOutcome> {
  const outcome = await deps.inference.submitJob(job, time.leftMs());
  if (outcome.outcome !== 'refused' || outcome.reason !== 'request_invalid' || field === undefined) return outcome;
  return submitWithout(deps, { ...job, [field]: undefined }, time, others);
}

/** The contract of a backend is strict, so only fields of reported features are sent. */
function jobOf({ task, source, features }: Submission): NewJob {
  const hasSnapshots = task.snapshots === 'tracks' && features.includes('snapshots');
  const giveUpAfterS = features.includes(giveUpFeature) ? task.giveUpAfterS : null;
  return {
    job_id: task.taskId,
    scene_code: task.sceneCode,
    lower_bound: task.lowerBound,
    source,
    ...(hasSnapshots ? { snapshots: 'tracks' as const } : {}),
    ...(giveUpAfterS === null ? {} : { give_up_after_s: giveUpAfterS }),
  };
}

async function admit({ db }: SubmitDeps, { draft, caller, scene }: CheckedDraft): Promise<TaskIn<'admitted'>> {
  const limit = limitsOf(caller).active_tasks;
  const frozen = {
    sceneCode: scene.scene_code,
    lowerBound: scene.lower_bound,
    defaultMinScore: scene.default_min_score,
    // The operator may disable images of a scene.
    snapshots: scene.snapshots ?? draft.snapshots,
  };
  return inTransaction(db, async (tx) => {
    await lockSubject(tx, draft.subject);
    const active = await countActive(tx, draft.subject);
    if (active >= limit) throw fail.rateLimited('active_tasks', 10, { limit, active });
    return moveTask(tx, draft, { move: 'admit', scene: frozen });
  });
}

async function reserve({ db, quota, slots }: SubmitDeps, { claim, caller }: CheckedDraft, task: Task): Promise<void> {
  const reply = await quota.reserve(task.reservationId, task.subject, {
    idempotency_key: claim.key,
    kind: 'video',
    units: 1,
    limit: limitsOf(caller).video_tasks_per_day,
  });
  if (reply.outcome === 'exhausted') {
    slots.endWaits(task.subject);
    throw await dayExhausted({ db }, { subject: task.subject, except: task.taskId }, reply);
  }
  if (reply.outcome === 'conflict') throw fail.keyReused();
  if (reply.outcome === 'closed') throw fail.sysUnavailable('create_taken_over');
}

async function commitSubmitting(
  { db, settings, wakeRelay }: SubmitDeps,
  { claim }: CheckedDraft,
  task: Task,
): Promise<TaskIn<'submitting' | 'resolving'>> {
  // A later answer will not come: the process died, or the answer was lost.
  const askAfterMs = settings.submitTimeoutMs + settings.leaseMs / 2;
  const submitting = await inTransaction(db, async (tx) => {
    const moved = await moveTask(tx, task, { move: 'submit', askAfterMs });
    if (!(await finishKey(tx, claim))) throw fail.sysUnavailable('create_taken_over');
    return moved;
  }).catch((error: unknown) => readBack(db, task, error));
  wakeRelay();
  return submitting;
}

/**
 * The row shows whether a commit with a lost answer took place; the row lock waits for a commit in progress. Only this
 * request sends the submission, so it continues, even if the reconciler has queried the job meanwhile and marked it as
 * unknown.
 * @throws the failure of the commit when it did not take place.
 */
async function readBack(
  db: SubmitDeps['db'],
  { taskId, attempt }: Task,
  failure: unknown,
): Promise<TaskIn<'submitting' | 'resolving'>> {
  if (!asUnavailable(failure) || asAppError(failure)) throw failure;
  const stored = await throughOutage(() => inTransaction(db, (tx) => findVideoTask(tx, taskId, 'for update')));
  if (stored?.attempt === attempt && isUnsent(stored)) return stored;
  throw failure;
}

const isUnsent = (task: Task): task is TaskIn<'submitting' | 'resolving'> => isUnconfirmed(task.status);

/**
 * A process that was delayed for longer than its lease may find its draft taken over; the client has to repeat the
 * request.
 */
async function fenced<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof TaskMovedError ? fail.sysUnavailable('create_taken_over', error) : error;
  }
}

/** A subject with a higher limit of active tasks has a larger share. */
export const slotFor = ({ taskId, kind }: Pick<Task, 'taskId' | 'kind'>, caller: Caller): SlotClaim => ({
  taskId,
  subject: caller.subject,
  kind,
  weight: Math.max(1, limitsOf(caller).active_tasks),
});

const limitsOf = (caller: Caller) => caller.limits ?? defaultLimits;
