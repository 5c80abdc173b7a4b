import { crashPoint } from '@vision/shared/crash-point';
import type { Job } from '@vision/shared/contracts/inference';
import { inTransaction } from '@vision/shared/db/transaction';
import { withStoredTrace } from '@vision/shared/telemetry/trace-context';
import { noteJob, noteStopSent } from '../db/jobs.ts';
import { moveTask } from '../db/move-task.ts';
import { judgeFound } from '../domain/job-progress.ts';
import type { Verdict } from '../domain/job-progress.ts';
import type { Task } from '../domain/task.ts';
import type { ReconcileDeps, Round } from './round.ts';

/** A stop that is not confirmed is repeated after 1 s, 2 s, 4 s … 30 s. */
const STOP_REPEAT_MS = 1_000;
const STOP_REPEAT_MAX_MS = 30_000;
const STOP_ALARM_AFTER = 10;

/** Applies what the backend says about the job of a task: moves it, drives a stop on, or waits. */
export async function advanceFound(
  deps: ReconcileDeps,
  { task, job, round }: { task: Task; job: Job; round: Round },
): Promise<void> {
  const noted = await noteJob(deps.db, task, job);
  const rules = { now: round.now, today: round.today, resultsGraceMs: deps.limits.resultsGraceMs };
  const verdict = await withFrames(deps, noted, judgeFound(noted, job, rules));
  await withStoredTrace(task.trace, () => apply(deps, { task: noted, verdict, now: round.now }));
}

/** A task whose end mark is late still ends when all that was published can be read. */
async function withFrames({ results, logger }: ReconcileDeps, task: Task, verdict: Verdict): Promise<Verdict> {
  if (verdict.do !== 'await_frames' || !results) return verdict;
  try {
    const stored = await results.countFrames(task.subject, task.taskId);
    return stored >= verdict.published ? { do: 'move', move: verdict.move, reason: verdict.reason } : verdict;
  } catch (error) {
    logger.debug({ err: error, task_id: task.taskId }, 'results could not be asked; its event or the clock decides');
    return verdict;
  }
}

async function apply(
  deps: ReconcileDeps,
  { task, verdict, now }: { task: Task; verdict: Verdict; now: Date },
): Promise<void> {
  if (verdict.do === 'wait' || verdict.do === 'await_frames') return;
  if (verdict.do === 'stop') return repeatStop(deps, task, now);
  const { move, reason } = verdict;
  const patch = {
    ...(reason === undefined ? {} : { reason }),
    ...(move === 'find' || move === 'stop' ? { check_at: deps.db.fn.now() } : {}),
  };
  const moved = await inTransaction(deps.db, (tx) => moveTask(tx, { task, move, clock: deps.clock }, { patch }));
  deps.signals.moved(move);
  deps.wakeRelay();
  crashPoint('tasks.reconcile.moved');
  if (verdict.alarm) {
    deps.signals.alarm(verdict.alarm);
    deps.logger.warn({ task_id: task.taskId }, 'a task ended before its frames could be read');
  }
  if (move === 'stop') await repeatStop(deps, moved, now);
  deps.logger.info({ task_id: task.taskId, move, status: moved.status }, 'a task moved');
}

async function repeatStop({ db, inference, signals, logger }: ReconcileDeps, task: Task, now: Date): Promise<void> {
  const pauseMs = Math.min(STOP_REPEAT_MAX_MS, STOP_REPEAT_MS * 2 ** Math.min(task.stopsSent - 1, 10));
  if (task.stopSentAt !== null && now.getTime() - task.stopSentAt.getTime() < pauseMs) return;
  await noteStopSent(db, task.taskId);
  if (task.stopsSent === STOP_ALARM_AFTER) {
    signals.alarm('stop_unconfirmed');
    logger.error({ task_id: task.taskId, stops_sent: task.stopsSent }, 'a stop is not confirmed by the backend');
  }
  await inference.stopJob(task.taskId);
}
