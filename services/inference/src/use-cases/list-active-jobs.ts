import type { ActiveJobs } from '@vision/contracts/inference';
import { findActive } from '../db/jobs.ts';
import { toJob } from '../domain/job.ts';
import type { Deps } from './deps.ts';

/** A page of the jobs that have not ended, including those without a task. */
export async function listActiveJobs(
  { db }: Pick<Deps, 'db'>,
  page: { after: string; limit: number },
): Promise<ActiveJobs> {
  const jobs = (await findActive(db, page)).map(toJob);
  return { jobs, next_cursor: jobs.length < page.limit ? '' : (jobs.at(-1)?.job_id ?? '') };
}
