import { claimJobs } from '../db/claim-jobs.ts';
import type { Claimable, JobClaim } from '../db/claim-jobs.ts';
import { deleteEndedBefore, isAnythingDue } from '../db/jobs.ts';
import { removeOldSnapshots } from '../db/live-snapshots.ts';
import { reportWorker } from '../db/workers.ts';
import { filePlacesOf, roomFor } from '../domain/room.ts';
import type { Places, Room } from '../domain/room.ts';
import { REMOVED_AFTER_MS } from '../domain/snapshot-times.ts';
import { heldUntil } from './held-jobs.ts';
import type { HeldJobs } from './held-jobs.ts';
import type { WorkDeps } from './work-on-job.ts';

// Number of polls for work for each report of the worker, and for each removal of old jobs.
const POLLS_PER_REPORT = 10;
const REMOVAL_MS = 1_800_000;
// Jobs to stop or to announce take no slot, but each of them takes a publish and a write.
const ENDINGS_AT_ONCE = 20;
// The jobs for a lone worker were submitted or stopped through its own process, which wakes it, or were held by a
// crashed worker.
const PAUSES_ALONE = 4;
// Parked streams that a worker connects to at once: each has a slot until its connection has a frame or ends.
const REOPENED_AT_ONCE = 2;

/** Polls of one worker for work, and its reports to the other workers. */
export interface WorkPolls {
  /** Claims jobs for the free slots. */
  poll: () => Promise<void>;
  /** Time until the next poll, unless the worker is woken. */
  pauseMs: () => number;
  /** Whether this worker is in the table of workers. */
  isReported: () => boolean;
}

export function createWorkPolls(deps: WorkDeps, held: HeldJobs, workerId: string): WorkPolls {
  const { db, settings } = deps;
  let isAlone = false;
  let isSomeDue = true;
  let isReported = false;
  let nextReport = 0;
  let nextRemoval = 0;

  const report = async () => {
    const { jobs: capacity, live: livePlaces, files: filePlaces } = placesOf(deps);
    const { workerSeenMs: seenMs, leaseMs } = settings;
    const found = await reportWorker(db, { id: workerId, capacity, livePlaces, filePlaces, seenMs, leaseMs });
    isAlone = found.isAlone;
    isReported = true;
    nextReport = performance.now() + POLLS_PER_REPORT * settings.pollMs;
    return found.isAnyDue;
  };
  const removeOld = async () => {
    await deleteEndedBefore(db, settings.keepDays);
    await removeOldSnapshots(db, REMOVED_AFTER_MS);
    nextRemoval = performance.now() + REMOVAL_MS;
  };
  return {
    isReported: () => isReported,
    pauseMs: () => (isAlone && !isSomeDue ? PAUSES_ALONE : 1) * settings.pollMs,
    poll: async () => {
      await held.report();
      isSomeDue = performance.now() >= nextReport ? await report() : await isAnythingDue(db);
      if (performance.now() >= nextRemoval) await removeOld();
      if (!isSomeDue) return;
      await claim(deps, held, { worker: workerId, which: 'ending', limit: ENDINGS_AT_ONCE });
      if (!held.hasSuspect()) await claimWaiting(deps, held, workerId);
    },
  };
}

/** Number of live streams that this worker can compute: configured or measured. */
export function livePlacesOf({ liveCosts, settings }: WorkDeps): number {
  return settings.liveJobsPerWorker || Math.min(liveCosts.places(), settings.jobsPerWorker);
}

async function claimWaiting(deps: WorkDeps, held: HeldJobs, worker: string): Promise<void> {
  const places = placesOf(deps);
  const room = roomFor(places, { jobs: held.size(), live: held.live() });
  const slots = deps.files.slots() - (held.size() - held.live());
  const all = places.jobs - held.size();
  const accepted = await claim(deps, held, { worker, ...claimIn(room, { all, slots }) });
  const claimed = accepted + (await claim(deps, held, { worker, which: 'parked', limit: reopenable(places, held) }));
  // Suspects come last, and one at a time. One that no idle worker claims is claimed here all the same.
  const isAlone = held.size() === 0;
  if (claimed > 0 || all <= 0 || slots <= 0) return;
  await claim(deps, held, { worker, which: isAlone ? 'suspects' : 'suspects-left', limit: 1, isAlone });
}

/** Parked streams that may be connected to now. */
function reopenable(places: Places, held: HeldJobs): number {
  const { stream } = roomFor(places, { jobs: held.size(), live: held.live() });
  return Math.min(stream, REOPENED_AT_ONCE - held.reopened());
}

/** Files have no more slots than the space for their copies allows. */
function placesOf(deps: WorkDeps): Places {
  const { jobsPerWorker: jobs } = deps.settings;
  const live = livePlacesOf(deps);
  return { jobs, live, files: Math.min(filePlacesOf(jobs, live), deps.files.slots()) };
}

/**
 * Kind and number of jobs to claim with this room, in one statement; the next poll claims the rest. Never more files
 * than there are slots for: their copies would not fit.
 */
function claimIn(
  { stream, object }: Room,
  { all, slots }: { all: number; slots: number },
): { which: Claimable; limit: number } {
  if (slots <= 0) return stream > 0 ? { which: 'streams', limit: stream } : { which: 'streams-left', limit: all };
  if (stream > 0 && object > 0) return { which: 'waiting', limit: Math.min(stream, object) };
  if (stream > 0) return { which: 'waiting-streams', limit: Math.min(stream, slots) };
  if (object > 0) return { which: 'waiting-files', limit: object };
  return { which: 'waiting-left', limit: Math.min(all, slots) };
}

async function claim({ db, settings }: WorkDeps, held: HeldJobs, what: Omit<JobClaim, 'leaseMs'>): Promise<number> {
  if (what.limit <= 0) return 0;
  const untilMs = heldUntil(settings);
  const claimed = await claimJobs(db, { ...what, leaseMs: settings.leaseMs });
  for (const job of claimed) held.take(job, untilMs, what.which);
  return claimed.length;
}
