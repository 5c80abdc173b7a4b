import type { Job } from '@vision/contracts/inference';
import { setTimeout as delay } from 'node:timers/promises';
import { createGate } from '@vision/shared/async/gate';
import { IDLE_POLL_MS } from '@vision/shared/db/due-work';
import { checkAgain, checkNoMore, claimDueTasks, noteQuiet } from '../../db/jobs.ts';
import type { QuietTask } from '../../db/jobs.ts';
import { passOverMoved } from '../../db/move-task.ts';
import { isEvidence, isQuiet } from '../../domain/job-progress.ts';
import { isUnconfirmed } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import { advanceFound } from './advance-found.ts';
import { advanceMissing, loseTrack } from './advance-missing.ts';
import { describeBackend } from './backend-state.ts';
import type { BackendState } from './backend-state.ts';
import type { ReconcileDeps, Settings } from '../deps.ts';

/** Maximum number of ids in one request of the contract with the backend. */
const BATCH = 100;
/**
 * Time after which other replicas claim the tasks of a replica that dies during a query; a slower answer of the backend
 * means two queries. A stop must be confirmed within 10 s, including the wait for its frames.
 */
const CLAIM_MS = 3_000;
/** Interval and duration of queries for the job after a verification as not created. */
const REFUNDED_CHECK_MS = 30_000;
const REFUNDED_WATCH_MS = 86_400_000;
/** Pauses are extended by up to a tenth, so that tasks drift apart. */
const SPREAD = 1.1;
/** Tasks that are advanced concurrently. */
const CONCURRENCY = 8;

/** Pause of a replica from its second consecutive failure on: another replica polls for due tasks within 4 s. */
const REST_MS = 6_000;
/** Minimum pause between two queries for due tasks while some are about to change. */
const LEAST_PAUSE_MS = 200;

export interface Reconciler {
  /**
   * Handles the due tasks; returns more than zero when there may be more of them. While the backend cannot be queried
   * it takes long, so that other replicas claim them; `signal` ends that.
   */
  runRound: (signal: AbortSignal) => Promise<number>;
  /**
   * Time until the next round. Tasks that this process makes due start it at once; regular polling finds the others.
   */
  pauseMs: () => number;
}

/**
 * Creates the reconciler: each round claims the due tasks, queries the backend for all of them in one request, and
 * moves the tasks that change.
 */
export function createReconciler(deps: ReconcileDeps): Reconciler {
  let failuresInRow = 0;
  let soonest = Infinity;
  const dueIn = (ms: number) => {
    soonest = Math.min(soonest, performance.now() + ms);
  };
  return {
    pauseMs: () => Math.min(IDLE_POLL_MS, Math.max(LEAST_PAUSE_MS, soonest - performance.now())),
    runRound: async (signal) => {
      if (soonest <= performance.now()) soonest = Infinity;
      const due = await claimDueTasks(deps.db, { limit: BATCH, leaseMs: CLAIM_MS });
      if (!due) return 0;
      for (const lateS of due.latenesses) deps.signals.reconcileLag(lateS);
      let jobs: Job[];
      try {
        jobs = await deps.inference.readJobs(due.tasks.map(({ taskId }) => taskId));
        failuresInRow = 0;
      } catch (error) {
        failuresInRow += 1;
        await leaveToOthers(deps, due.tasks);
        if (failuresInRow > 1) await delay(REST_MS, undefined, { signal }).catch(() => undefined);
        throw error;
      }
      const state = await describeBackend(deps, due, jobs);
      const { quiet, moving } = sortOut(due.tasks, state);
      await noteQuiet(deps.db, quiet, deps.settings.quietReconcileMs);
      await forEach(deps, moving, (task) => advance(deps, task, state));
      for (const task of moving) dueIn(pauseAfter(deps, task, state.today) ?? Infinity);
      await schedule(deps, moving, state.today);
      return due.tasks.length === BATCH ? BATCH : 0;
    },
  };
}

/** Separates tasks whose jobs just continue from tasks that must be handled one by one. */
function sortOut(tasks: Task[], state: BackendState): { quiet: QuietTask[]; moving: Task[] } {
  const quiet: QuietTask[] = [];
  const moving: Task[] = [];
  for (const task of tasks) {
    const job = state.jobs.get(task.taskId);
    if (job && isQuiet(task, job, state)) quiet.push({ task, job });
    else moving.push(task);
  }
  return { quiet, moving };
}

async function advance(deps: ReconcileDeps, task: Task, state: BackendState): Promise<void> {
  const job = state.jobs.get(task.taskId);
  if (job && (!isUnconfirmed(task.status) || isEvidence(task, job))) await advanceFound(deps, { task, job, state });
  else await advanceMissing(deps, { task, state });
}

/**
 * This process could not query the backend, others may: the tasks are soon due again. A request that waits for the
 * outcome of a submission gets "unknown".
 */
async function leaveToOthers(deps: ReconcileDeps, tasks: Task[]): Promise<void> {
  const ids = tasks.map(({ taskId }) => taskId);
  await checkAgain(deps.db, ids, deps.settings.reconcileMs);
  const submitting = tasks.filter(({ status }) => status === 'submitting');
  await forEach(deps, submitting, (task) => loseTrack(deps, task));
}

/** Runs some concurrently. A task that cannot be advanced does not delay the others; it is due again soon. */
async function forEach({ loops }: ReconcileDeps, tasks: Task[], work: (task: Task) => Promise<void>): Promise<void> {
  const gate = createGate({ concurrency: CONCURRENCY });
  const loop = loops.of('reconciler');
  const advanceOne = (task: Task) => loop.attempt(task.taskId, () => work(task).catch(passOverMoved));
  await Promise.all(tasks.map((task) => gate.run(() => advanceOne(task))));
}

/** Sets when each of the tasks is due again; tasks with the same pause share one statement. */
async function schedule(deps: ReconcileDeps, tasks: Task[], today: Date): Promise<void> {
  const byPause = Map.groupBy(tasks, (task) => pauseAfter(deps, task, today));
  for (const [pauseMs, some] of byPause) {
    const ids = some.map(({ taskId }) => taskId);
    if (pauseMs === undefined) await checkNoMore(deps.db, ids);
    else await checkAgain(deps.db, ids, pauseMs);
  }
}

/** Pause until a task in this state is due again; undefined: never. */
function pauseAfter({ settings }: ReconcileDeps, { status, updatedAt }: Task, today: Date): number | undefined {
  if (status === 'resolving') return settings.resolvingReconcileMs;
  if (status !== 'refunded') return settings.reconcileMs;
  return today.getTime() - updatedAt.getTime() > REFUNDED_WATCH_MS ? undefined : REFUNDED_CHECK_MS;
}

/** Maximum time until a task is due again or the lease of a create request expires. */
export function longestPauseMs({ quietReconcileMs, leaseMs }: Settings): number {
  return SPREAD * Math.max(quietReconcileMs, REFUNDED_CHECK_MS, leaseMs);
}
