import type { Job } from '@vision/contracts/inference';
import { findJobs } from '../db/jobs.ts';
import { isJobId, toJob } from '../domain/job.ts';
import type { Deps } from './deps.ts';

/** Many jobs at once; ids that do not exist are left out. */
export async function listJobs({ db }: Pick<Deps, 'db'>, jobIds: readonly string[]): Promise<Job[]> {
  return (await findJobs(db, jobIds.filter(isJobId))).map(toJob);
}
