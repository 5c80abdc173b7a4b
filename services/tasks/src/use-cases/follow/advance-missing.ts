import { withStoredTrace } from '@vision/shared/telemetry/trace-context';
import { noteMissing } from '../../db/jobs.ts';
import { areResultsComplete, endOf, hasVanished } from '../../domain/job-progress.ts';
import type { Change } from '../../domain/moves.ts';
import { isConfirmed } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import type { BackendState } from './backend-state.ts';
import type { ReconcileDeps } from '../deps.ts';
import { moveNow } from './move-now.ts';

const vanish: Change = { move: 'vanish', reason: 'job_vanished' };

/**
 * Handles a task whose job the backend does not have. A submission whose process died becomes `resolving`; a job that
 * was seen and stays missing fails its task, unless many jobs are missing at once or the backend is unhealthy.
 * `resolving` waits for evidence or for an operator.
 */
export async function advanceMissing(
  deps: ReconcileDeps,
  { task, state }: { task: Task; state: BackendState },
): Promise<void> {
  if (task.status === 'submitting') return loseTrack(deps, task);
  if (!isConfirmed(task.status)) return;
  // A backend may forget a job after its end; its last report and the stored end-of-stream marker suffice.
  if (task.job.endedAt !== null && areResultsComplete(task.job)) {
    return moveInTrace(deps, task, endOf(task.job.status) ?? vanish);
  }
  const noted = await noteMissing(deps.db, task);
  if (!hasVanished(noted, state.now, deps.settings.vanishMs)) return;
  if (state.isMassMissing) {
    deps.signals.massMissing(noted);
    return;
  }
  await deps.inference.readHealth();
  deps.signals.vanished(noted);
  await moveInTrace(deps, noted, vanish);
}

/** Records that the outcome of the submission can no longer be determined. */
export async function loseTrack(deps: ReconcileDeps, task: Task): Promise<void> {
  await moveInTrace(deps, task, { move: 'lose_track', reason: 'submission_interrupted' });
}

async function moveInTrace(deps: ReconcileDeps, task: Task, change: Change): Promise<void> {
  await withStoredTrace(task.trace, () => moveNow(deps, task, change));
}
