import type { Job } from '@vision/contracts/inference';
import { countMissing } from '../../db/jobs.ts';
import type { DueTasks } from '../../db/jobs.ts';
import { isMassVanishing } from '../../domain/job-progress.ts';
import type { ReconcileDeps } from '../deps.ts';

/** Jobs of the queried tasks, and the time of the query. */
export interface BackendState {
  jobs: ReadonlyMap<string, Job>;
  /** Whether so many jobs are missing over all replicas that the backend must be at fault. */
  isMassMissing: boolean;
  /** The plain database clock, used for job facts. */
  now: Date;
  /** The clock of dates and expiry. */
  today: Date;
}

/** Completes the answer of the backend with the other facts that decide about found or missing jobs. */
export async function describeBackend(
  { db }: ReconcileDeps,
  { tasks, clocks }: DueTasks,
  found: Job[],
): Promise<BackendState> {
  const { now, today } = clocks;
  const jobs = new Map(found.map((job) => [job.job_id, job]));
  const isSomeMissing = tasks.some((task) => !jobs.has(task.taskId));
  return { jobs, isMassMissing: isSomeMissing && (await isMassMissing(db)), now, today };
}

async function isMassMissing(db: ReconcileDeps['db']): Promise<boolean> {
  const { seen, missing } = await countMissing(db);
  return isMassVanishing(seen, missing);
}
