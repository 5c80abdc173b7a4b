import type { Knex } from 'knex';
import type { Job } from '@vision/shared/contracts/inference';
import { findJobs, insertStopped, markStopping } from '../db/jobs.ts';
import { toJob } from '../domain/job.ts';

export interface StopJobDeps {
  db: Knex;
  wakeWorker: () => void;
}

/** Stops a job; one that nobody submitted yet is recorded as stopped, so that a late submit starts nothing. */
export async function stopJob({ db, wakeWorker }: StopJobDeps, jobId: string): Promise<Job> {
  const isUnknown = await insertStopped(db, jobId);
  if (!isUnknown) await markStopping(db, jobId);
  const [stored] = await findJobs(db, [jobId]);
  if (!stored) throw new Error('a job vanished while it was stopped');
  if (stored.status === 'stopping') wakeWorker();
  return toJob(stored);
}
