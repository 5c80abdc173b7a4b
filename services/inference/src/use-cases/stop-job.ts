import type { Job } from '@vision/contracts/inference';
import { findJobs, insertStopped, markStopping } from '../db/jobs.ts';
import { isJobId, toJob } from '../domain/job.ts';
import type { Deps } from './deps.ts';

/** Stops a job; an unknown id is recorded as stopped, so that a late submit starts nothing. */
export async function stopJob({ db, wakeWorker }: Pick<Deps, 'db' | 'wakeWorker'>, id: string): Promise<Job> {
  // No job can have such an id, so nothing is recorded.
  if (!isJobId(id)) return { job_id: id, status: 'stopped', frames_published: 0 };
  const jobId = id.toLowerCase();
  const isUnknown = await insertStopped(db, jobId);
  if (!isUnknown) await markStopping(db, jobId);
  const [stored] = await findJobs(db, [jobId]);
  if (!stored) throw new Error('a job vanished while it was stopped');
  if (stored.status === 'stopping') wakeWorker();
  return toJob(stored);
}
