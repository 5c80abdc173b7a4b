import { backoff } from '@vision/shared/async/backoff';
import { crashPoint } from '@vision/shared/crash-point';
import type { Job } from '@vision/contracts/inference';
import { withStoredTrace } from '@vision/shared/telemetry/trace-context';
import { noteJob, noteStopSent } from '../../db/jobs.ts';
import { classifyJob } from '../../domain/job-progress.ts';
import type { Verdict } from '../../domain/job-progress.ts';
import type { Task } from '../../domain/task.ts';
import type { BackendState } from './backend-state.ts';
import type { ReconcileDeps } from '../deps.ts';
import { moveNow } from './move-now.ts';

/** An unconfirmed stop is repeated after 1 s, 2 s, 4 s … 30 s. */
const STOP_REPEAT = { minMs: 1_000, maxMs: 30_000, jitter: 'none' } as const;
const STOP_ALARM_AFTER = 10;

/** Applies the reported state of a job to its task: moves it, continues a stop, or waits. */
export async function advanceFound(
  deps: ReconcileDeps,
  { task, job, state }: { task: Task; job: Job; state: BackendState },
): Promise<void> {
  const noted = await noteJob(deps.db, task, job);
  const rules = { now: state.now, today: state.today, resultsGraceMs: deps.settings.resultsGraceMs };
  const verdict = classifyJob(noted, job, rules);
  await withStoredTrace(task.trace, () => apply(deps, { task: noted, verdict, now: state.now }));
}

async function apply(
  deps: ReconcileDeps,
  { task, verdict, now }: { task: Task; verdict: Verdict; now: Date },
): Promise<void> {
  if (verdict.do === 'wait') return;
  if (verdict.do === 'await_frames') {
    deps.awaitedEnds.add({ task, verdict });
    return;
  }
  if (verdict.do === 'stop') return repeatStop(deps, task, now);
  const moved = await moveNow(deps, task, verdict.change);
  crashPoint('tasks.reconcile.moved');
  if (verdict.alarm === 'results_late') deps.signals.resultsLate(moved);
  if (moved.status === 'stopping') await repeatStop(deps, moved, now);
}

async function repeatStop({ db, stops, signals }: ReconcileDeps, task: Task, now: Date): Promise<void> {
  const pauseMs = backoff(task.stopsSent, STOP_REPEAT);
  if (task.stopSentAt !== null && now.getTime() - task.stopSentAt.getTime() < pauseMs) return;
  await noteStopSent(db, task.taskId);
  if (task.stopsSent === STOP_ALARM_AFTER) signals.stopUnconfirmed(task);
  stops.send(task.taskId);
}
