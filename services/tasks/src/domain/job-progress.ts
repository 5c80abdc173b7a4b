import type { Job, JobStatus } from '@vision/contracts/inference';
import type { Change } from './moves.ts';
import { isConfirmed, isUnconfirmed, longestRunEnds } from './task.ts';
import type { JobFacts, Task } from './task.ts';

/** Next action for a task after a query for its job. */
export type Verdict =
  | { do: 'move'; change: Change; alarm?: 'results_late' | undefined }
  /** Send the stop request to the backend, also repeatedly. */
  | { do: 'stop' }
  /** Move once results reports that the frames are readable; otherwise wait. */
  | { do: 'await_frames'; awaited: AwaitedFrames; change: Change }
  | { do: 'wait' };

/** Frames that must be readable before a task ends. */
export interface AwaitedFrames {
  /** The attempt whose end-of-stream marker must be applied; null when the backend reports no attempts. */
  attempt: number | null;
  published: number;
}

/** What results reports about a task. */
export interface ReadableFrames {
  frames: number;
  /** The attempt whose end-of-stream marker is applied. */
  completedAttempt: number | undefined;
}

/**
 * Whether the report of results lets a task end. Frames are counted only when the backend reports no attempts:
 * uncounted frames of an earlier attempt could otherwise compensate for missing ones.
 */
export function canBeRead({ attempt, published }: AwaitedFrames, readable: ReadableFrames): boolean {
  if (attempt === null) return readable.frames >= published;
  return readable.completedAttempt !== undefined && readable.completedAttempt >= attempt;
}

/** Whether the end-of-stream marker reported by results is that of the attempt with which the job ended. */
export function areResultsComplete({ attempt, resultsAttempt, resultsCompletedAt }: JobFacts): boolean {
  // Rows of an earlier release have no attempt.
  return resultsCompletedAt !== null && (resultsAttempt ?? Infinity) >= (attempt ?? 0);
}

export interface ProgressRules {
  /** The plain database clock, used for job facts. */
  now: Date;
  /** The clock of expiry; differs from `now` only in tests with future days. */
  today: Date;
  /** Maximum time from the end of the job until its frames are readable. */
  resultsGraceMs: number;
}

/** The final move for a job with this status; undefined while the job continues. */
export function endOf(status: JobStatus | null, error?: string): Change | undefined {
  if (status === 'stopped') return { move: 'end_stopped' };
  if (status === 'succeeded') return { move: 'end_succeeded' };
  if (status === 'failed') return { move: 'end_failed', reason: error ?? 'job_failed' };
  return undefined;
}

/**
 * Whether an answer shows that the submission arrived. The backend records a stop of an unknown id as a stopped job
 * without frames, so such a job is no evidence unless the job was seen before.
 */
export function isEvidence(task: Task, job: Job): boolean {
  // Only a submitted job is ever processed.
  const wasWorkedOn = job.frames_published > 0 || (job.attempt ?? 0) > 0;
  return job.status !== 'stopped' || wasWorkedOn || task.job.seenAt !== null;
}

/**
 * Whether no change is due: the job continues, no stop was requested, and its end-of-stream marker has not arrived.
 * Such a task is queried rarely, because its end arrives as an event.
 */
export function isQuiet(task: Task, job: Job, rules: Pick<ProgressRules, 'today'>): boolean {
  if (task.status !== 'running' || endOf(job.status) !== undefined || job.status === 'stopping') return false;
  if (task.stopRequestedAt !== null || rules.today >= longestRunEnds(task)) return false;
  return !areResultsComplete({ ...task.job, attempt: job.attempt ?? null });
}

/** The next action for a task whose job the backend has. The task already contains this answer. */
export function classifyJob(task: Task, job: Job, rules: ProgressRules): Verdict {
  if (isUnconfirmed(task.status)) return { do: 'move', change: { move: 'find' } };
  const end = endOf(job.status, job.error);
  // The task was verified as not created, but its job exists.
  if (task.status === 'refunded') return end ? { do: 'wait' } : { do: 'stop' };
  if (end) return classifyEnd(task.job, { end, published: job.frames_published, rules });
  if (task.status === 'stopping') return { do: 'stop' };
  if (task.stopRequestedAt !== null || rules.today >= longestRunEnds(task)) {
    return { do: 'move', change: { move: 'stop', by: 'service' } };
  }
  return { do: 'wait' };
}

/**
 * A task ends when its frames are readable: the end-of-stream marker of the last attempt is applied, its only attempt
 * published no frames, or the grace period has expired.
 */
function classifyEnd(
  facts: JobFacts,
  { end, published, rules }: { end: Change; published: number; rules: ProgressRules },
): Verdict {
  const hasNothing = published === 0 && (facts.attempt ?? 0) <= 1;
  if (areResultsComplete(facts) || hasNothing) return { do: 'move', change: end };
  const endedAt = facts.endedAt ?? rules.now;
  if (rules.now.getTime() - endedAt.getTime() < rules.resultsGraceMs) {
    return { do: 'await_frames', awaited: { attempt: facts.attempt, published }, change: end };
  }
  return { do: 'move', change: end, alarm: 'results_late' };
}

/** Share of missing jobs above which the backend, not the jobs, must be at fault. */
const MASS_SHARE = 1 / 5;

/**
 * Whether missing jobs indicate a restored or emptied backend, so that they must not count as vanished: more than a
 * fifth of the queried jobs is missing at once. A single missing job never does.
 */
export function isMassVanishing(askedFor: number, missing: number): boolean {
  return missing > 1 && missing > askedFor * MASS_SHARE;
}

/** A job that was seen before and is missing for at least `vanishMs` has vanished. */
export function hasVanished(task: Task, now: Date, vanishMs: number): boolean {
  const { seenAt, missingSince } = task.job;
  if (!isConfirmed(task.status) || seenAt === null || missingSince === null) return false;
  return now.getTime() - missingSince.getTime() >= vanishMs;
}
