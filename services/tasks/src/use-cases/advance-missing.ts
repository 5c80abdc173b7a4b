import { inTransaction } from '@vision/shared/db/transaction';
import { withStoredTrace } from '@vision/shared/telemetry/trace-context';
import { countMissing, noteMissing } from '../db/jobs.ts';
import { moveTask } from '../db/move-task.ts';
import { hasVanished, isMassVanishing } from '../domain/job-progress.ts';
import type { Move, Task } from '../domain/task.ts';
import type { ReconcileDeps, Round } from './round.ts';

/**
 * The backend does not have the job. A submission whose process died becomes `resolving`; a job that was seen and stays away
 * fails its task, unless many went at once or the backend is not well. `resolving` waits for evidence or for an operator.
 */
export async function advanceMissing(
  deps: ReconcileDeps,
  { task, round }: { task: Task; round: Round },
): Promise<void> {
  if (task.status === 'submitting') return move(deps, task, 'lose_track', 'submission_interrupted');
  if (task.status !== 'running' && task.status !== 'stopping') return;
  if (task.job.endedAt !== null && task.job.resultsCompletedAt !== null) return endAsSeen(deps, task);
  const noted = await noteMissing(deps.db, task);
  if (!hasVanished(noted, round.now, deps.limits.vanishMs)) return;
  if (round.isMassMissing) {
    deps.signals.alarm('mass_vanishing');
    deps.logger.error({ task_id: task.taskId }, 'many jobs are missing at the backend; none is given up');
    return;
  }
  await deps.inference.readHealth();
  deps.signals.alarm('vanished');
  await move(deps, noted, 'vanish', 'job_vanished');
}

/** Whether so many jobs are missing over all replicas that it says more about the backend than about them. */
export async function isMassMissing({ db }: Pick<ReconcileDeps, 'db'>): Promise<boolean> {
  const { seen, missing } = await countMissing(db);
  return isMassVanishing(seen, missing);
}

/** A backend may forget a job after its end; what it said last and the stored end mark are enough. */
function endAsSeen(deps: ReconcileDeps, task: Task): Promise<void> {
  const moves: Record<string, Move> = { stopped: 'end_stopped', succeeded: 'end_succeeded', failed: 'end_failed' };
  return move(deps, task, moves[task.job.status ?? ''] ?? 'vanish');
}

async function move(deps: ReconcileDeps, task: Task, name: Move, reason?: string): Promise<void> {
  const patch = {
    ...(reason === undefined ? {} : { reason }),
    ...(name === 'lose_track' ? { check_at: deps.db.fn.now() } : {}),
  };
  await withStoredTrace(task.trace, () =>
    inTransaction(deps.db, (tx) => moveTask(tx, { task, move: name, clock: deps.clock }, { patch })),
  );
  deps.signals.moved(name);
  deps.wakeRelay();
  deps.logger.warn({ task_id: task.taskId, move: name, reason }, 'a task moved without its job');
}
