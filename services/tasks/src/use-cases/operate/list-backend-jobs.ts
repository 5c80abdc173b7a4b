import type { Job } from '@vision/contracts/inference';
import { submittedStatuses } from '../../domain/task.ts';
import { agesOf } from './ages-of.ts';
import type { AgedTask } from './ages-of.ts';
import type { Deps } from '../deps.ts';
import { listTasksOfAll } from './list-tasks-of-all.ts';

export interface BackendJobsPage {
  items: (AgedTask & { job: Job | undefined })[];
  nextCursor: string;
}

/**
 * Unfinished tasks, oldest first, each with the current state of its job at the backend.
 * @throws AppError of kind `unavailable` when the backend does not answer.
 */
export async function listBackendJobs(
  deps: Pick<Deps, 'db' | 'inference'>,
  page: { subject?: string | undefined; after?: string | undefined; limit: number },
): Promise<BackendJobsPage> {
  const { tasks, nextCursor } = await listTasksOfAll(deps, { ...page, statuses: submittedStatuses, order: 'oldest' });
  const found = await deps.inference.readJobs(tasks.map(({ taskId }) => taskId));
  const jobs = new Map(found.map((job) => [job.job_id, job]));
  const items = (await agesOf(deps, tasks)).map((aged) => ({ ...aged, job: jobs.get(aged.task.taskId) }));
  return { items, nextCursor };
}
