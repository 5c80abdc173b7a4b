import type { Job } from '@vision/contracts/inference';
import { fail } from '@vision/contracts/errors';
import { findJobs } from '../db/jobs.ts';
import { isJobId, toJob } from '../domain/job.ts';
import type { Deps } from './deps.ts';

/** @throws AppError `job_not_found`. */
export async function getJob({ db }: Pick<Deps, 'db'>, jobId: string): Promise<Job> {
  const [found] = isJobId(jobId) ? await findJobs(db, [jobId]) : [];
  if (!found) throw fail.notFound('There is no such job.', 'job_not_found');
  return toJob(found);
}
