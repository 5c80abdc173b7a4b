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

/** The jobs that one worker holds and runs. */
export interface HeldJobs {
  size: () => number;
  /** Number of live streams among them. */
  live: () => number;
  /** Number of streams that had been unavailable for long when they were claimed, until a frame of them is stored. */
  reopened: () => number;
  /** Starts a claimed job; it is held until `untilMs` of the monotonic clock, unless renewed. */
  take: (job: JobRecord, untilMs: number, which: Claimable) => void;
  /** Whether a suspect has not run for long enough yet: no job is claimed beside it. */
  hasSuspect: () => boolean;
  /** Stores the attempts that this process survived, and the suspects that have run for long enough. */
  report: () => Promise<void>;
  /** Renews the leases, reads stop requests, and drops jobs that another attempt has. */
  renew: () => Promise<void>;
  /** Yields all jobs to other workers, also those that are still being claimed. */
  letGo: (graceMs: number) => void;
  /** Resolves when no job runs. */
  done: () => Promise<void>;
}

interface HeldJob {
  job: JobRecord;
  hold: HoldControl;
  /** Time to store its progress next, by the monotonic clock. */
  progressDue: number;
  /** Time until which no job is claimed beside it, by the monotonic clock; undefined unless it is a suspect. */
  suspectUntil: number | undefined;
  isReopened: boolean;
  done: Promise<void>;
}

export function createHeldJobs(deps: WorkDeps): HeldJobs {
  const { db, drops, logger, progress, signals } = deps;
  // Not keyed by job: one attempt may still be ending here when this worker has claimed the next.
  const held = new Set<HeldJob>();
  // Attempts that ended while this process still runs, whether or not it could release them.
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

/** A lease requested now expires later than this, independent of the clock of the database. */
export function heldUntil({ leaseMs, leaseMarginMs }: Settings): number {
  return performance.now() + leaseMs - leaseMarginMs;
}

/** How long a suspect runs alone: a stream that crashes its process does so within seconds. */
const SUSPECT_MS = 30_000;
/** Interval at which the progress of a job is stored. */
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

/** A hanging connection must leave time to try another one. */
const renewalTimeout = (heldMs: number) => Math.max(100, Math.floor(heldMs / 4));
