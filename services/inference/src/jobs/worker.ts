import { randomUUID } from 'node:crypto';
import { atMost } from '@vision/shared/async/at-most';
import type { Bell } from '@vision/shared/async/bell';
import { createPoller } from '@vision/shared/async/poller';
import { claimJobs, deleteEndedBefore } from '../db/jobs.ts';
import { removeWorker, reportWorker } from '../db/workers.ts';
import { createHeldJobs, heldUntil } from './held-jobs.ts';
import type { HeldJobs } from './held-jobs.ts';
import type { WorkDeps } from './work-on-job.ts';

export interface Worker {
  start: () => void;
  /** Whether this worker is in the table of workers, so that its places count. */
  isReported: () => boolean;
  /** Gives the jobs back for other workers to take. */
  stop: () => Promise<void>;
}

/** Wake a worker; both are rung together. */
export interface WorkerBells {
  /** Ends the pause between two looks for work. */
  looks: Bell;
  /** Ends the pause between two renewals, which also tell of stops. */
  renewals: Bell;
}

// Looks for work between two reports of this worker, and between two removals of old jobs.
const LOOKS_PER_REPORT = 10;
const LOOKS_PER_REMOVAL = 3600;
// Jobs to stop or to announce do not count as work, but each of them takes a publish and a write.
const ENDINGS_AT_ONCE = 20;
// How long a worker that ends waits for the broker to take what its jobs have read.
const LET_GO_MS = 3_000;
const MAX_LOOK_PAUSE_MS = 2_000;
// Longest wait for the database when a worker has ended.
const LAST_WORDS_MS = 5_000;

/**
 * Runs jobs of the table: takes what nobody holds, keeps its leases alive, and drops a job as soon as the row belongs
 * to another attempt, or could soon belong to one. A stop reaches the worker with the lease it renews.
 *
 * Leases are renewed by a loop of their own, so that no other statement that hangs lets them run out.
 */
export function createWorker(deps: WorkDeps, bells: WorkerBells): Worker {
  const { db, drops, logger, settings, signals } = deps;
  const id = randomUUID();
  const held = createHeldJobs(deps);
  signals.jobsWatched(held.size, settings.jobsPerWorker);
  let isStopping = false;
  let isReported = false;
  let looks = 0;

  const look = async (): Promise<number> => {
    await drops.store();
    if (isStopping) return 0;
    if (looks % LOOKS_PER_REPORT === 0) await reportWorker(db, { id, capacity: settings.jobsPerWorker });
    isReported = true;
    if (looks % LOOKS_PER_REMOVAL === 0) await deleteEndedBefore(db, settings.keepDays);
    looks += 1;
    await claim(deps, held, { which: 'ending', limit: ENDINGS_AT_ONCE });
    await claim(deps, held, { which: 'waiting', limit: settings.jobsPerWorker - held.size() });
    return 0;
  };
  const poller = createPoller({
    name: 'jobs',
    intervalMs: settings.pollMs,
    run: look,
    logger,
    maxBackoffMs: MAX_LOOK_PAUSE_MS,
    bell: bells.looks,
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
    bell: bells.renewals,
  });
  return {
    start: () => {
      poller.start();
      renewals.start();
    },
    isReported: () => isReported,
    stop: async () => {
      isStopping = true;
      held.letGo(LET_GO_MS);
      await poller.stop();
      await held.done();
      await renewals.stop();
      await atMost(LAST_WORDS_MS, Promise.all([drops.store(), removeWorker(db, id)])).catch((error: unknown) => {
        logger.warn({ err: error }, 'this worker still counts until its silence is noticed');
      });
    },
  };
}

async function claim(
  { db, settings }: WorkDeps,
  held: HeldJobs,
  { which, limit }: { which: 'ending' | 'waiting'; limit: number },
): Promise<void> {
  if (limit <= 0) return;
  const untilMs = heldUntil(settings);
  const claimed = await claimJobs(db, { which, leaseMs: settings.leaseMs, limit });
  for (const job of claimed) held.take(job, untilMs);
}
