import { claimDue, dueLag } from '../../db/claim-due.ts';
import type { Deps } from '../deps.ts';
import { foldTask } from './fold-task.ts';
import type { FoldDeps } from './fold-task.ts';

const TASKS = 50;
/** Longer than a round of tasks; after it other processes claim the tasks of a dead one. */
const LEASE_MS = 60_000;

/** Folds new frames of tasks that are due. Returns how many tasks it worked on. */
export async function foldTasks(deps: FoldDeps & Pick<Deps, 'loops'>): Promise<number> {
  deps.signals.foldLag(await dueLag(deps.db, 'fold_at'));
  const taskIds = await claimDue(deps.db, 'fold_at', { limit: TASKS, leaseMs: LEASE_MS });
  // A task that fails is due again when its lease has expired.
  await deps.loops.of('fold').forEach(taskIds, (taskId) => foldTask(deps, taskId));
  return taskIds.length;
}
