import { randomUUID } from 'node:crypto';
import { atMost } from '@vision/shared/async/at-most';
import type { WakeUp } from '@vision/shared/async/wake-up';
import { createPoller } from '@vision/shared/async/poller';
import { removeWorker } from '../db/workers.ts';
import { createHeldJobs } from './held-jobs.ts';
import { createWorkPolls, livePlacesOf } from './poll-for-work.ts';
import type { WorkDeps } from './work-on-job.ts';

export interface Worker {
  start: () => void;
  /** Whether this worker is in the table of workers, so that its places count. */
  isReported: () => boolean;
  /** Yields the jobs to other workers. */
  stop: () => Promise<void>;
}

/** Wake a worker; both are called together. */
export interface WorkerWakeUps {
  /** Ends the pause between two polls for work. */
  polls: WakeUp;
  /** Ends the pause between two renewals, which also tell of stops. */
  renewals: WakeUp;
}

// How long a worker that ends waits for the broker to take what its jobs have read.
const LET_GO_MS = 3_000;
const MAX_POLL_PAUSE_MS = 2_000;
// Longest wait for the database when a worker has ended.
const LAST_WORDS_MS = 5_000;

/**
 * Runs jobs of the table: claims free ones, keeps its leases alive, and drops a job as soon as the row belongs
 * to another attempt, or could soon belong to one. A stop reaches the worker with the lease it renews.
 *
 * Leases are renewed by a loop of their own, so that no other statement that hangs lets them run out.
 */
export function createWorker(deps: WorkDeps, wakeUps: WorkerWakeUps): Worker {
  const { db, drops, logger, settings, signals } = deps;
  const id = randomUUID();
  const held = createHeldJobs(deps);
  const { poll, pauseMs, isReported } = createWorkPolls(deps, held, id);
  signals.jobsWatched(held.size, settings.jobsPerWorker);
  signals.liveJobsWatched({ costs: deps.liveCosts, places: () => livePlacesOf(deps) });
  let isStopping = false;

  const poller = createPoller({
    name: 'jobs',
    intervalMs: pauseMs,
    run: async () => {
      await drops.store();
      if (!isStopping) await poll();
      return 0;
    },
    logger,
    maxBackoffMs: MAX_POLL_PAUSE_MS,
    wakeUp: wakeUps.polls,
  });
  const renewals = createPoller({
    name: 'job-leases',
    intervalMs: settings.pollMs,
    run: async () => {
      await held.renew();
      return 0;
    },
    logger,
    maxBackoffMs: settings.pollMs,
    wakeUp: wakeUps.renewals,
  });
  return {
    start: () => {
      poller.start();
      renewals.start();
    },
    isReported,
    stop: async () => {
      isStopping = true;
      held.letGo(LET_GO_MS);
      await poller.stop();
      await held.done();
      await renewals.stop();
      await atMost(LAST_WORDS_MS, Promise.all([drops.store(), held.report(), removeWorker(db, id)])).catch(
        (error: unknown) => {
          logger.warn({ err: error }, 'stopped worker not removed; its capacity counts until its heartbeat expires');
        },
      );
    },
  };
}
