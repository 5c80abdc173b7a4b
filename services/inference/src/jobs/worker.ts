import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { JobStatus } from '@vision/shared/contracts/inference';
import { createPoller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import { withStoredTrace } from '@vision/shared/telemetry/trace-context';
import { claimJobs, deleteEndedBefore, renewJobs } from '../db/jobs.ts';
import { removeWorker, reportWorker } from '../db/workers.ts';
import type { JobRecord } from '../domain/job.ts';
import type { RunJobDeps } from './run-job-deps.ts';
import { workOnJob } from './work-on-job.ts';

export interface WorkerOptions {
  db: Knex;
  logger: Logger;
  /** Jobs run at once. */
  capacity: number;
  leaseMs: number;
  /** Between two rounds of renewing leases and looking for work. */
  pollMs: number;
  /** How long ended jobs are remembered, so that stops stick and repeats are recognised. */
  keepDays: number;
}

export interface Worker {
  /** Something to do was written: look at once. */
  wake: () => void;
  /** Whether the others know of this worker, so that its places count. */
  isReported: () => boolean;
  /** Puts the jobs down for others to take up. */
  stop: () => Promise<void>;
}

interface Held {
  job: JobRecord;
  stop: AbortController;
  lost: AbortController;
  done: Promise<void>;
}

type Deps = Omit<RunJobDeps, 'saveProgress'>;

/**
 * Runs jobs of the table: takes what nobody holds, keeps its leases alive, and drops a job as soon as the row belongs to another
 * attempt. A stop reaches the worker with the lease it renews.
 */
export function startWorker(deps: Deps, options: WorkerOptions): Worker {
  const id = randomUUID();
  const held = new Map<string, Held>();
  const closing = new AbortController();
  let rounds = 0;
  let isReported = false;

  const take = (job: JobRecord) => {
    const stop = new AbortController();
    const lost = new AbortController();
    if (job.status === 'stopping') stop.abort();
    const work = withStoredTrace(job, () =>
      workOnJob({ ...deps, ...options }, job, { stop: stop.signal, lost: lost.signal, closing: closing.signal }),
    );
    const done = work
      .catch((error: unknown) => {
        if (!lost.signal.aborted) options.logger.error({ err: error, job_id: job.jobId }, 'a job was put down');
      })
      .finally(() => held.delete(job.jobId));
    held.set(job.jobId, { job, stop, lost, done });
  };

  const round = async (): Promise<number> => {
    await renew(options, held);
    if (closing.signal.aborted) return 0;
    if (rounds % 10 === 0) await reportWorker(options.db, { id, capacity: options.capacity });
    isReported = true;
    if (rounds % 3600 === 0) await deleteEndedBefore(options.db, options.keepDays);
    rounds += 1;
    const claim = (statuses: JobStatus[], limit: number) =>
      limit > 0 ? claimJobs(options.db, { statuses, leaseMs: options.leaseMs, limit }) : [];
    const claimed = [
      ...(await claim(['stopping'], 20)),
      ...(await claim(['queued', 'running'], options.capacity - held.size)),
    ];
    claimed.forEach(take);
    return 0;
  };

  const poller = createPoller({ name: 'jobs', intervalMs: options.pollMs, run: round, logger: options.logger });
  poller.start();
  return {
    wake: poller.wake,
    isReported: () => isReported,
    stop: async () => {
      closing.abort();
      await poller.stop();
      await Promise.all([...held.values()].map(({ done }) => done));
      await removeWorker(options.db, id).catch(() => undefined);
    },
  };
}

async function renew({ db, leaseMs }: WorkerOptions, held: ReadonlyMap<string, Held>): Promise<void> {
  if (held.size === 0) return;
  const jobs = [...held.values()];
  const statuses = await renewJobs(
    db,
    jobs.map(({ job }) => job),
    leaseMs,
  );
  for (const { job, stop, lost } of jobs) {
    const status = statuses.get(job.jobId);
    if (status === undefined) lost.abort();
    else if (status === 'stopping') stop.abort();
  }
}
