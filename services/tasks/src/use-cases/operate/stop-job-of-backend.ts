import type { Job } from '@vision/contracts/inference';
import { fail } from '@vision/contracts/errors';
import { findVideoTasks } from '../../db/tasks.ts';
import { endedStatuses } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

/**
 * Stops a job at the backend that no task can stop: its task is unknown or has ended.
 * @throws AppError of kind `conflict` for the job of a running task, `unavailable` when the backend does not answer.
 */
export async function stopJobOfBackend(deps: Pick<Deps, 'db' | 'inference'>, jobId: string): Promise<Job> {
  const [task] = await findVideoTasks(deps.db, [jobId]);
  const hasEnded = task && (endedStatuses as readonly string[]).includes(task.status);
  if (task && !hasEnded) throw fail.conflict('task_runs', 'The job belongs to a task that runs; stop the task.');
  return (await deps.inference.stopJob(jobId)).job;
}
