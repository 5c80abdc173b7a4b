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
  /** Whether this worker is in the table of workers, so that its slots count. */
  isReported: () => boolean;
  /** Yields the jobs to other workers. */
  stop: () => Promise<void>;
}

/** Wake-ups of a worker; both are triggered together. */
export interface WorkerWakeUps {
  /** Ends the pause between two polls for work. */
  polls: WakeUp;
  /** Ends the pause between two renewals, which also deliver stop requests. */
  renewals: WakeUp;
}

// How long a stopping worker waits for the broker to acknowledge the frames that its jobs have read.
const LET_GO_MS = 3_000;
const MAX_POLL_PAUSE_MS = 2_000;
// Maximum wait for the database when a worker has ended.
const LAST_WORDS_MS = 5_000;

/**
 * Runs jobs of the table: claims free ones, renews its leases, and drops a job as soon as the row belongs to another
 * attempt, or could soon belong to one. The worker receives a stop request when it renews the lease.
 *
 * A separate loop renews the leases, so that no other hanging statement lets them expire.
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
