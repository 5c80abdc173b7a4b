import type { Job, JobStatus } from '@vision/contracts/inference';
import type { Change } from './moves.ts';
import { isConfirmed, isUnconfirmed, longestRunEnds } from './task.ts';
import type { JobFacts, Task } from './task.ts';

/** What to do with a task after the backend was asked about its job. */
export type Verdict =
  | { do: 'move'; change: Change; alarm?: 'results_late' | undefined }
  /** Ask the backend to stop the job (again). */
  | { do: 'stop' }
  /** Move when results says that the frames can be read; wait else. */
  | { do: 'await_frames'; awaited: AwaitedFrames; change: Change }
  | { do: 'wait' };

/** What has to be readable before a task ends. */
export interface AwaitedFrames {
  /** The attempt whose end mark has to be in force; null when the backend names none. */
  attempt: number | null;
  published: number;
}

/** What results says of a task. */
export interface ReadableFrames {
  frames: number;
  /** The attempt whose end mark is in force. */
  completedAttempt: number | undefined;
}

/**
 * Whether a task may end by what results says. Frames are only counted when the backend names no attempt: what an
 * earlier attempt published without being counted could stand in for frames that are still missing.
 */
export function canBeRead({ attempt, published }: AwaitedFrames, readable: ReadableFrames): boolean {
  if (attempt === null) return readable.frames >= published;
  return readable.completedAttempt !== undefined && readable.completedAttempt >= attempt;
}

/** Whether the end mark that results told of is the one that the job ended with. */
export function areResultsComplete({ attempt, resultsAttempt, resultsCompletedAt }: JobFacts): boolean {
  // Rows of an earlier release have no attempt.
  return resultsCompletedAt !== null && (resultsAttempt ?? Infinity) >= (attempt ?? 0);
}

export interface ProgressRules {
  /** The plain database clock, which what was noted about a job goes by. */
  now: Date;
  /** The instant that expiry goes by; differs from `now` only in tests that look at days that have not come. */
  today: Date;
  /** After the backend's end the frames may take this long to become readable. */
  resultsGraceMs: number;
}

/** The end of a task whose job ended this way; undefined while the job goes on. */
export function endOf(status: JobStatus | null, error?: string): Change | undefined {
  if (status === 'stopped') return { move: 'end_stopped' };
  if (status === 'succeeded') return { move: 'end_succeeded' };
  if (status === 'failed') return { move: 'end_failed', reason: error ?? 'job_failed' };
  return undefined;
}

/**
 * Whether an answer shows that the submission arrived. A stop of an id that the backend never heard of is recorded
 * there as a stopped job without frames, so such a job proves nothing unless the job was seen before.
 */
export function isEvidence(task: Task, job: Job): boolean {
  // Only a job that was submitted is ever worked on.
  const wasWorkedOn = job.frames_published > 0 || (job.attempt ?? 0) > 0;
  return job.status !== 'stopped' || wasWorkedOn || task.job.seenAt !== null;
}

/**
 * Whether no change is due: the job continues, no stop was requested, and its end-of-stream marker has not come. Such
 * a task is queried rarely, because its end arrives as an event.
 */
export function isQuiet(task: Task, job: Job, rules: Pick<ProgressRules, 'today'>): boolean {
  if (task.status !== 'running' || endOf(job.status) !== undefined || job.status === 'stopping') return false;
  if (task.stopRequestedAt !== null || rules.today >= longestRunEnds(task)) return false;
  return !areResultsComplete({ ...task.job, attempt: job.attempt ?? null });
}

/** The next step of a task whose job the backend has. The facts of the task already hold this answer. */
export function classifyJob(task: Task, job: Job, rules: ProgressRules): Verdict {
  if (isUnconfirmed(task.status)) return { do: 'move', change: { move: 'find' } };
  const end = endOf(job.status, job.error);
  // Verified as not created, and yet it is there.
  if (task.status === 'refunded') return end ? { do: 'wait' } : { do: 'stop' };
  if (end) return classifyEnd(task.job, { end, published: job.frames_published, rules });
  if (task.status === 'stopping') return { do: 'stop' };
  if (task.stopRequestedAt !== null || rules.today >= longestRunEnds(task)) {
    return { do: 'move', change: { move: 'stop', by: 'service' } };
  }
  return { do: 'wait' };
}

/**
 * A task ends when its frames can be read: the end mark of the attempt that ended the job is in force, nothing was
 * published by its only attempt, or the grace is over.
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
 * Whether missing jobs may be counted as vanished at all: not when more than a fifth of those asked for is missing at
 * once (a restored or emptied backend). A single missing job is never a mass.
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
