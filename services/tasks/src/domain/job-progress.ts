import type { Job, JobStatus } from '@vision/shared/contracts/inference';
import type { Change } from './moves.ts';
import { isConfirmed, isUnconfirmed, longestRunEnds } from './task.ts';
import type { JobFacts, Task } from './task.ts';

/** What to do with a task after the backend was asked about its job. */
export type Verdict =
  | { do: 'move'; change: Change; alarm?: 'results_late' | undefined }
  /** Ask the backend to stop the job (again). */
  | { do: 'stop' }
  /** Move when results has as many frames as the backend says it published; wait else. */
  | { do: 'await_frames'; published: number; change: Change }
  | { do: 'wait' };

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
  return job.status !== 'stopped' || job.frames_published > 0 || task.job.seenAt !== null;
}

/** The next step of a task whose job the backend has. The facts of the task already hold this answer. */
export function judgeFound(task: Task, job: Job, rules: ProgressRules): Verdict {
  if (isUnconfirmed(task.status)) return { do: 'move', change: { move: 'find' } };
  const end = endOf(job.status, job.error);
  // Verified as not created, and yet it is there.
  if (task.status === 'refunded') return end ? { do: 'wait' } : { do: 'stop' };
  if (end) return judgeEnd(task.job, { end, published: job.frames_published, rules });
  if (task.status === 'stopping') return { do: 'stop' };
  if (task.stopRequestedAt !== null || rules.today >= longestRunEnds(task)) {
    return { do: 'move', change: { move: 'stop', by: 'service' } };
  }
  return { do: 'wait' };
}

/**
 * A task ends when its frames can be read: the end mark is stored, nothing was published, as many frames are stored
 * as were published, or the grace is over.
 */
function judgeEnd(
  facts: JobFacts,
  { end, published, rules }: { end: Change; published: number; rules: ProgressRules },
): Verdict {
  if (facts.resultsCompletedAt !== null || published === 0) return { do: 'move', change: end };
  const endedAt = facts.endedAt ?? rules.now;
  if (rules.now.getTime() - endedAt.getTime() < rules.resultsGraceMs) {
    return { do: 'await_frames', published, change: end };
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
