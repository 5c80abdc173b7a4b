import { inLinkedTrace } from './linked-trace.ts';
import { endSuspicion, retractDeaths } from '../db/claim-jobs.ts';
import type { Claimable } from '../db/claim-jobs.ts';
import { fenceKey } from '../db/held-jobs.ts';
import type { Fence } from '../db/held-jobs.ts';
import { renewJobs } from '../db/renew-jobs.ts';
import type { JobRecord } from '../domain/job.ts';
import type { Settings } from '../use-cases/deps.ts';
import { createHold } from './hold.ts';
import type { HoldControl } from './hold.ts';
import { workOnJob } from './work-on-job.ts';
import type { WorkDeps } from './work-on-job.ts';

/** The jobs that one worker holds, each with the work on it. */
export interface HeldJobs {
  size: () => number;
  /** Live streams among them. */
  live: () => number;
  /** Streams that were away for long when they were taken, until a frame of them is stored. */
  reopened: () => number;
  /** Begins the work on a job that was claimed; it is held until `untilMs` of the monotonic clock, unless renewed. */
  take: (job: JobRecord, untilMs: number, which: Claimable) => void;
  /** Whether a suspect is here that has not run for long enough yet: nothing is taken beside it. */
  hasSuspect: () => boolean;
  /** Stores which attempts this process survived, and which suspects have run for long enough. */
  report: () => Promise<void>;
  /** Extends the leases, notices stops, and drops what another attempt has. */
  renew: () => Promise<void>;
  /** Puts all of them down for other workers, also those that are still being claimed. */
  letGo: (graceMs: number) => void;
  /** Resolves when no work is left. */
  done: () => Promise<void>;
}

interface HeldJob {
  job: JobRecord;
  hold: HoldControl;
  /** When its progress is to be stored next, by the monotonic clock. */
  progressDue: number;
  /** Until when nothing is taken beside it, by the monotonic clock; undefined unless it is a suspect. */
  suspectUntil: number | undefined;
  isReopened: boolean;
  done: Promise<void>;
}

export function createHeldJobs(deps: WorkDeps): HeldJobs {
  const { db, drops, logger, progress, signals } = deps;
  // Not by job: one attempt may still be ending here when this worker has claimed the next.
  const held = new Set<HeldJob>();
  // Attempts that ended while this process goes on, whether or not it could release them.
  const survived: Fence[] = [];
  let graceAtTakeMs: number | undefined;
  return {
    size: () => held.size,
    live: () => [...held].filter(({ job }) => job.source.kind === 'stream').length,
    reopened: () => [...held].filter(({ isReopened }) => isReopened).length,
    take: (job, untilMs, which) => {
      const hold = createHold({ untilMs, onExpired: () => signals.jobFenced(job) });
      if (job.status === 'stopping') hold.requestStop();
      if (graceAtTakeMs !== undefined) hold.letGo(graceAtTakeMs);
      const work = inLinkedTrace('job attempt', traceOf(job), () =>
        workOnJob(deps, job, hold, which === 'ending'),
      ).catch((error: unknown) => {
        logger.error({ err: error, task_id: job.jobId }, 'work on a job failed; another worker claims it');
      });
      const taken: HeldJob = {
        job,
        hold,
        progressDue: 0,
        suspectUntil: which.startsWith('suspects') ? performance.now() + SUSPECT_MS : undefined,
        isReopened: which !== 'ending' && job.awayMs !== undefined,
        done: work,
      };
      taken.done = work.finally(() => {
        held.delete(taken);
        survived.push({ jobId: job.jobId, attempt: job.attempt, claim: job.claim });
        hold.lose();
        drops.close(job);
        progress.close(job);
      });
      held.add(taken);
    },
    hasSuspect: () => [...held].some(({ suspectUntil }) => suspectUntil !== undefined),
    report: () => report(db, held, survived),
    renew: () =>
      renew(
        deps,
        [...held].filter(({ hold }) => !hold.isLost()),
      ),
    letGo: (graceMs) => {
      graceAtTakeMs = graceMs;
      held.forEach(({ hold }) => hold.letGo(graceMs));
    },
    done: async () => {
      await Promise.all([...held].map(({ done }) => done));
    },
  };
}

async function report(db: WorkDeps['db'], held: ReadonlySet<HeldJob>, survived: Fence[]): Promise<void> {
  if (survived.length > 0) {
    const fences = [...survived];
    await retractDeaths(db, fences);
    survived.splice(0, fences.length);
  }
  for (const one of held) {
    if (one.suspectUntil === undefined || one.suspectUntil > performance.now()) continue;
    await endSuspicion(db, one.job);
    one.suspectUntil = undefined;
  }
}

const traceOf = (job: JobRecord) => ({
  origin: job,
  attributes: { 'app.task.id': job.jobId, 'app.job.attempt': job.attempt, 'app.source.kind': job.source.kind },
});

/** A lease requested now ends later than this, independent of the clock of the database. */
export function heldUntil({ leaseMs, leaseMarginMs }: Settings): number {
  return performance.now() + leaseMs - leaseMarginMs;
}

/** How long a suspect runs by itself: what a stream does to its reader shows within seconds. */
const SUSPECT_MS = 30_000;
/** Between two records of how far a job is. */
const PROGRESS_MS = 1_000;

async function renew({ db, liveSnapshots, progress, settings }: WorkDeps, held: readonly HeldJob[]): Promise<void> {
  if (held.length === 0) return;
  const begun = performance.now();
  const { leaseMs, leaseMarginMs } = settings;
  const states = held.map(({ job: { jobId, attempt, claim }, progressDue }) => {
    const job = { jobId, attempt, claim };
    return { ...job, progress: progressDue <= begun ? progress.of(job) : undefined };
  });
  const rows = await renewJobs(db, states, { leaseMs, timeoutMs: renewalTimeout(leaseMs - leaseMarginMs) });
  for (const state of states) if (state.progress) progress.stored(state, state.progress);
  for (const [index, one] of held.entries()) {
    if (states[index]?.progress) {
      one.progressDue = begun + PROGRESS_MS;
      one.isReopened = false;
    }
    const row = rows.get(fenceKey(one.job));
    if (row === undefined) one.hold.lose();
    else one.hold.renewed(begun + Math.min(row.leaseLeftMs, leaseMs) - leaseMarginMs);
    if (row?.status === 'stopping') one.hold.requestStop();
    if (row && (row.snapshotWantedMs ?? 0) > 0) liveSnapshots.want(one.job, row.snapshotWantedMs ?? 0);
  }
}

/** A connection that hangs must leave time for others to be tried. */
const renewalTimeout = (heldMs: number) => Math.max(100, Math.floor(heldMs / 4));
