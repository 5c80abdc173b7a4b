import type { Job } from '@vision/shared/contracts/inference';
import { backoff } from '@vision/shared/async/backoff';
import { createGate } from '@vision/shared/async/gate';
import { checkAgain, checkNoMore, claimDueTasks } from '../db/jobs.ts';
import { TaskMovedError } from '../db/move-task.ts';
import { isEvidence } from '../domain/job-progress.ts';
import { isUnconfirmed } from '../domain/task.ts';
import type { Task } from '../domain/task.ts';
import { advanceFound } from './advance-found.ts';
import { advanceMissing, loseTrack } from './advance-missing.ts';
import { describeBackend } from './backend-state.ts';
import type { BackendState } from './backend-state.ts';
import type { ReconcileDeps } from './deps.ts';

/** Ids of one question to the backend; its contract takes no more. */
const BATCH = 100;
/**
 * Tasks of a replica that dies while it asks are left to the others after this; who takes longer asks twice, no more.
 * A stop among them is to be confirmed within 10 s, also when its frames are waited for afterwards.
 */
const CLAIM_MS = 3_000;
/** After a verification as not created the job is looked for this often and this long. */
const REFUNDED_CHECK_MS = 30_000;
const REFUNDED_WATCH_MS = 86_400_000;
/** Tasks that are advanced at the same time. */
const CONCURRENCY = 8;

/**
 * Makes the reconciler: each call takes the tasks that are due, asks the backend about all of them in one request,
 * and moves those that have to. A call returns how many tasks were due.
 */
export function createReconciler(deps: ReconcileDeps): () => Promise<number> {
  let failuresInRow = 0;
  return async () => {
    const due = await claimDueTasks(deps.db, { limit: BATCH, leaseMs: CLAIM_MS });
    if (due.length === 0) return 0;
    for (const { lateS } of due) deps.signals.reconcileLag(lateS);
    const tasks = due.map(({ task }) => task);
    let jobs: Job[];
    try {
      jobs = await deps.inference.readJobs(tasks.map(({ taskId }) => taskId));
      failuresInRow = 0;
    } catch (error) {
      failuresInRow += 1;
      await postpone(deps, tasks, backoff(failuresInRow, 5_000));
      throw error;
    }
    const state = await describeBackend(deps, tasks, jobs);
    await forEach(deps, tasks, (task) => advance(deps, task, state));
    await schedule(deps, tasks, state.today);
    return due.length;
  };
}

async function advance(deps: ReconcileDeps, task: Task, state: BackendState): Promise<void> {
  const job = state.jobs.get(task.taskId);
  if (job && (!isUnconfirmed(task.status) || isEvidence(task, job))) await advanceFound(deps, { task, job, state });
  else await advanceMissing(deps, { task, state });
}

/** The backend could not be asked. Whoever waits for the outcome of a submission is told that it is unknown. */
async function postpone(deps: ReconcileDeps, tasks: Task[], pauseMs: number): Promise<void> {
  const ids = tasks.map(({ taskId }) => taskId);
  await checkAgain(deps.db, ids, Math.max(deps.settings.reconcileMs, pauseMs));
  const submitting = tasks.filter(({ status }) => status === 'submitting');
  await forEach(deps, submitting, (task) => loseTrack(deps, task));
}

/** Some at the same time. One task that cannot be advanced does not hold up the others; it is due again soon. */
async function forEach({ logger }: ReconcileDeps, tasks: Task[], work: (task: Task) => Promise<void>): Promise<void> {
  const gate = createGate({ concurrency: CONCURRENCY });
  const advanceOne = async (task: Task) => {
    try {
      await work(task);
    } catch (error) {
      if (error instanceof TaskMovedError) return;
      logger.warn({ err: error, task_id: task.taskId }, 'a task could not be advanced');
    }
  };
  await Promise.all(tasks.map((task) => gate.run(() => advanceOne(task))));
}

async function schedule({ db, settings }: ReconcileDeps, tasks: Task[], today: Date): Promise<void> {
  const idsOf = (isWanted: (task: Task) => boolean) => tasks.filter(isWanted).map(({ taskId }) => taskId);
  const isWatchedLongEnough = ({ updatedAt }: Task) => today.getTime() - updatedAt.getTime() > REFUNDED_WATCH_MS;
  await checkAgain(
    db,
    idsOf(({ status }) => status !== 'resolving' && status !== 'refunded'),
    settings.reconcileMs,
  );
  await checkAgain(
    db,
    idsOf(({ status }) => status === 'resolving'),
    settings.resolvingReconcileMs,
  );
  await checkAgain(
    db,
    idsOf((task) => task.status === 'refunded' && !isWatchedLongEnough(task)),
    REFUNDED_CHECK_MS,
  );
  await checkNoMore(
    db,
    idsOf((task) => task.status === 'refunded' && isWatchedLongEnough(task)),
  );
}
