import type { Job } from '@vision/contracts/inference';
import { countMissing } from '../../db/jobs.ts';
import type { DueTasks } from '../../db/jobs.ts';
import { isMassVanishing } from '../../domain/job-progress.ts';
import type { ReconcileDeps } from '../deps.ts';

/** What the backend has of the tasks it was asked about, and when that was. */
export interface BackendState {
  jobs: ReadonlyMap<string, Job>;
  /** So many jobs are missing over all replicas that it says more about the backend than about them. */
  isMassMissing: boolean;
  /** The plain database clock, which what was noted about jobs goes by. */
  now: Date;
  /** The instant that dates and expiry go by. */
  today: Date;
}

/** Completes the backend's answer with what else decides about a task whose job is found or missing. */
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
