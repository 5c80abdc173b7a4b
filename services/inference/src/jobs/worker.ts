import { randomUUID } from 'node:crypto';
import type { Bell } from '@vision/shared/async/bell';
import { createPoller } from '@vision/shared/async/poller';
import type { JobStatus } from '@vision/shared/contracts/inference';
import { withStoredTrace } from '@vision/shared/telemetry/trace-context';
import { claimJobs, deleteEndedBefore, renewJobs } from '../db/jobs.ts';
import { removeWorker, reportWorker } from '../db/workers.ts';
import type { JobRecord } from '../domain/job.ts';
import { createHold } from './hold.ts';
import type { HoldControl } from './hold.ts';
import { workOnJob } from './work-on-job.ts';
import type { WorkDeps } from './work-on-job.ts';

export interface Worker {
  start: () => void;
  /** Whether this worker is in the table of workers, so that its places count. */
  isReported: () => boolean;
  /** Gives the jobs back for other workers to take. */
  stop: () => Promise<void>;
}

interface HeldJob {
  job: JobRecord;
  hold: HoldControl;
  done: Promise<void>;
}

// Looks for work between two reports of this worker, and between two removals of old jobs.
const LOOKS_PER_REPORT = 10;
const LOOKS_PER_REMOVAL = 3600;
// Jobs to stop do not count as work, but each of them takes a publish and a write.
const STOPS_AT_ONCE = 20;
// How long a worker that ends waits for the broker to take what its jobs have read.
const LET_GO_MS = 3_000;

/**
 * Runs jobs of the table: takes what nobody holds, keeps its leases alive, and drops a job as soon as the row belongs
 * to another attempt. A stop reaches the worker with the lease it renews. `bell` wakes it.
 */
export function createWorker(deps: WorkDeps, bell: Bell): Worker {
  const { db, logger, settings } = deps;
  const id = randomUUID();
  const held = new Map<string, HeldJob>();
  let isStopping = false;
  let isReported = false;
  let looks = 0;

  const take = (job: JobRecord) => {
    const hold = createHold();
    if (job.status === 'stopping') hold.requestStop();
    // The stop came while this job was being claimed.
    if (isStopping) hold.letGo(LET_GO_MS);
    const done = withStoredTrace(job, () => workOnJob(deps, job, hold))
      .catch((error: unknown) => {
        logger.error({ err: error, task_id: job.jobId }, 'a job was put down; another worker takes it up');
      })
      .finally(() => held.delete(job.jobId));
    held.set(job.jobId, { job, hold, done });
  };

  const look = async (): Promise<number> => {
    await renew(deps, [...held.values()]);
    if (isStopping) return 0;
    if (looks % LOOKS_PER_REPORT === 0) await reportWorker(db, { id, capacity: settings.jobsPerWorker });
    isReported = true;
    if (looks % LOOKS_PER_REMOVAL === 0) await deleteEndedBefore(db, settings.keepDays);
    looks += 1;
    const stopping = await claim(deps, ['stopping'], STOPS_AT_ONCE);
    const waiting = await claim(deps, ['queued', 'running'], settings.jobsPerWorker - held.size);
    [...stopping, ...waiting].forEach(take);
    return 0;
  };

  const poller = createPoller({ name: 'jobs', intervalMs: settings.pollMs, run: look, logger, bell });
  return {
    start: poller.start,
    isReported: () => isReported,
    stop: async () => {
      isStopping = true;
      held.forEach(({ hold }) => hold.letGo(LET_GO_MS));
      await poller.stop();
      await Promise.all([...held.values()].map(({ done }) => done));
      await removeWorker(db, id).catch((error: unknown) => {
        logger.warn({ err: error }, 'this worker still counts until its silence is noticed');
      });
    },
  };
}

async function claim({ db, settings }: WorkDeps, statuses: JobStatus[], limit: number): Promise<JobRecord[]> {
  return limit > 0 ? claimJobs(db, { statuses, leaseMs: settings.leaseMs, limit }) : [];
}

async function renew({ db, settings }: WorkDeps, held: readonly HeldJob[]): Promise<void> {
  if (held.length === 0) return;
  const jobs = held.map(({ job }) => job);
  const statuses = await renewJobs(db, jobs, settings.leaseMs);
  for (const { job, hold } of held) {
    const status = statuses.get(job.jobId);
    if (status === undefined) hold.lose();
    else if (status === 'stopping') hold.requestStop();
  }
}
