import type { Job } from '@vision/contracts/inference';
import { fail } from '@vision/contracts/errors';
import { findVideoTasks } from '../../db/tasks.ts';
import { agesOf } from './ages-of.ts';
import type { AgedTask } from './ages-of.ts';
import type { Deps } from '../deps.ts';

export interface JobsOfBackendPage {
  items: { job: Job; known: AgedTask | undefined }[];
  nextCursor: string;
}

/**
 * Unfinished jobs of the backend, each with its task. A job without a task was submitted from a lost database.
 * @throws AppError of kind `not_found` when the backend does not list its jobs, `unavailable` when it does not answer.
 */
export async function listJobsOfBackend(
  deps: Pick<Deps, 'db' | 'inference'>,
  page: { after?: string | undefined; limit: number },
): Promise<JobsOfBackendPage> {
  const active = await deps.inference.readActiveJobs(page);
  if (!active) throw fail.notFound('This inference backend does not list its jobs.', 'jobs_not_listed');
  const ids = active.jobs.map(({ job_id: id }) => id);
  const aged = await agesOf(deps, await findVideoTasks(deps.db, ids));
  const known = new Map(aged.map((one) => [one.task.taskId, one]));
  const items = active.jobs.map((job) => ({ job, known: known.get(job.job_id) }));
  return { items, nextCursor: active.next_cursor };
}
