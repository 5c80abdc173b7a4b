import { claimJobs, deleteEndedBefore, isAnythingDue } from '../db/jobs.ts';
import type { Claimable } from '../db/jobs.ts';
import { reportWorker } from '../db/workers.ts';
import { filePlacesOf, roomFor } from '../domain/room.ts';
import type { Room } from '../domain/room.ts';
import { heldUntil } from './held-jobs.ts';
import type { HeldJobs } from './held-jobs.ts';
import type { WorkDeps } from './work-on-job.ts';

// Times that a worker could look for work between two reports of it, and how often it removes old jobs.
const POLLS_PER_REPORT = 10;
const REMOVAL_MS = 1_800_000;
// Jobs to stop or to announce do not count as work, but each of them takes a publish and a write.
const ENDINGS_AT_ONCE = 20;
// What a worker that is alone may take up was submitted or stopped through its own process, which rings, or was left by
// a dead one.
const POLLS_PER_LOOK_ALONE = 4;

/** How one worker looks for work, and tells the others that it is there. */
export interface Looks {
  /** Claims what there is room for. */
  look: () => Promise<void>;
  /** Until the next look, unless a bell rings. */
  pauseMs: () => number;
  /** Whether this worker is in the table of workers. */
  isReported: () => boolean;
}

export function createLooks(deps: WorkDeps, held: HeldJobs, workerId: string): Looks {
  const { db, settings } = deps;
  let isAlone = false;
  let isSomeDue = true;
  let isReported = false;
  let nextReport = 0;
  let nextRemoval = 0;

  const report = async () => {
    const places = { capacity: settings.jobsPerWorker, livePlaces: livePlacesOf(deps) };
    const found = await reportWorker(db, { id: workerId, ...places, seenMs: settings.workerSeenMs });
    isAlone = found.isAlone;
    isReported = true;
    nextReport = performance.now() + POLLS_PER_REPORT * settings.pollMs;
    return found.isAnyDue;
  };
  const removeOld = async () => {
    await deleteEndedBefore(db, settings.keepDays);
    nextRemoval = performance.now() + REMOVAL_MS;
  };
  return {
    isReported: () => isReported,
    pauseMs: () => (isAlone && !isSomeDue ? POLLS_PER_LOOK_ALONE : 1) * settings.pollMs,
    look: async () => {
      isSomeDue = performance.now() >= nextReport ? await report() : await isAnythingDue(db);
      if (performance.now() >= nextRemoval) await removeOld();
      if (!isSomeDue) return;
      await claim(deps, held, { which: 'ending', limit: ENDINGS_AT_ONCE });
      await claimWaiting(deps, held);
    },
  };
}

/** As many live streams as this worker can compute; explicitly or as measured. */
export function livePlacesOf({ liveCosts, settings }: WorkDeps): number {
  return settings.liveJobsPerWorker || Math.min(liveCosts.places(), settings.jobsPerWorker);
}

async function claimWaiting(deps: WorkDeps, held: HeldJobs): Promise<void> {
  const { jobsPerWorker: jobs } = deps.settings;
  const live = livePlacesOf(deps);
  const room = roomFor({ jobs, live, files: filePlacesOf(jobs, live) }, { jobs: held.size(), live: held.live() });
  await claim(deps, held, claimIn(room, jobs - held.size()));
}

/** What to claim with this room, in one statement; what is left after that waits for the next look. */
function claimIn({ stream, object }: Room, all: number): { which: Claimable; limit: number } {
  if (stream > 0 && object > 0) return { which: 'waiting', limit: Math.min(stream, object) };
  if (stream > 0) return { which: 'waiting-streams', limit: stream };
  if (object > 0) return { which: 'waiting-files', limit: object };
  return { which: 'waiting-left', limit: all };
}

async function claim(
  { db, settings }: WorkDeps,
  held: HeldJobs,
  { which, limit }: { which: Claimable; limit: number },
): Promise<void> {
  if (limit <= 0) return;
  const untilMs = heldUntil(settings);
  const claimed = await claimJobs(db, { which, leaseMs: settings.leaseMs, limit });
  for (const job of claimed) held.take(job, untilMs);
}
