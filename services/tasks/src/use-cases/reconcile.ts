import type { Job } from '@vision/shared/contracts/inference';
import { backoff } from '@vision/shared/async/backoff';
import { checkAgain, checkNoMore, claimDueTasks, databaseNow } from '../db/jobs.ts';
import { TaskMovedError } from '../db/move-task.ts';
import { isEvidence } from '../domain/job-progress.ts';
import type { Task } from '../domain/task.ts';
import { advanceFound } from './advance-found.ts';
import { advanceMissing, isMassMissing } from './advance-missing.ts';
import type { ReconcileDeps, Round } from './round.ts';

/** Ids of one question to the backend; its contract takes no more. */
const BATCH = 100;
/** A replica that dies in a round leaves its tasks to the others after this; a round that takes longer is merely repeated. */
const CLAIM_MS = 8_000;
/** After a verification as not created the job is looked for this often and this long. */
const REFUNDED_CHECK_MS = 30_000;
const REFUNDED_WATCH_MS = 86_400_000;

/**
 * One round: takes the tasks that are due, asks the backend about all of them in one request, and moves those that have to.
 * @returns how many tasks were due.
 */
export async function reconcile(deps: ReconcileDeps, failures: { inRow: number }): Promise<number> {
  const due = await claimDueTasks(deps.db, { limit: BATCH, leaseMs: CLAIM_MS });
  if (due.length === 0) return 0;
  for (const { lateS } of due) deps.signals.reconcileLag(lateS);
  const tasks = due.map(({ task }) => task);
  const jobs = await ask(deps, tasks, failures);
  const now = await databaseNow(deps.db, '0 seconds');
  const round = { now, today: await databaseNow(deps.db, deps.clock.offset), jobs, isMassMissing: false };
  if (tasks.some((task) => !jobs.has(task.taskId))) round.isMassMissing = await isMassMissing(deps);
  await inLanes(tasks, (task) => advance(deps, task, round));
  await schedule(deps, tasks);
  return due.length;
}

async function ask(deps: ReconcileDeps, tasks: Task[], failures: { inRow: number }): Promise<Map<string, Job>> {
  try {
    const jobs = await deps.inference.readJobs(tasks.map((task) => task.taskId));
    failures.inRow = 0;
    return new Map(jobs.map((job) => [job.job_id, job]));
  } catch (error) {
    failures.inRow += 1;
    await checkAgain(
      deps.db,
      tasks.map((task) => task.taskId),
      Math.max(deps.limits.reconcileMs, backoff(failures.inRow, 5_000)),
    );
    // Whoever waits for the outcome of a submission has to be told something: it is unknown.
    const lost = tasks.filter((task) => task.status === 'submitting');
    const nothing = { now: new Date(), today: new Date(), jobs: new Map<string, Job>(), isMassMissing: true };
    await inLanes(lost, (task) => advance(deps, task, nothing));
    throw error;
  }
}

/** One task that cannot be advanced does not hold up the others; it is due again soon. */
async function advance(deps: ReconcileDeps, task: Task, round: Round): Promise<void> {
  try {
    const job = round.jobs.get(task.taskId);
    const isWaiting = task.status === 'submitting' || task.status === 'resolving';
    const counts = job !== undefined && (!isWaiting || isEvidence(task, job));
    await (counts ? advanceFound(deps, { task, job, round }) : advanceMissing(deps, { task, round }));
  } catch (error) {
    if (error instanceof TaskMovedError) return;
    deps.logger.warn({ err: error, task_id: task.taskId }, 'a task could not be advanced');
  }
}

async function schedule({ db, limits }: ReconcileDeps, tasks: Task[]): Promise<void> {
  const ids = (...statuses: string[]) =>
    tasks.filter((task) => statuses.includes(task.status)).map((task) => task.taskId);
  await checkAgain(db, ids('running', 'stopping', 'submitting'), limits.reconcileMs);
  await checkAgain(db, ids('resolving'), limits.resolvingReconcileMs);
  const watched = tasks.filter((task) => task.status === 'refunded');
  const isOld = (task: Task) => task.updatedAt.getTime() < Date.now() - REFUNDED_WATCH_MS;
  await checkAgain(
    db,
    watched.map((task) => task.taskId),
    REFUNDED_CHECK_MS,
  );
  await checkNoMore(
    db,
    watched.filter(isOld).map((task) => task.taskId),
  );
}

const LANES = 8;

async function inLanes<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
