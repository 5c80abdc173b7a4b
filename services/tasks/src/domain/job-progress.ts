import type { Job, JobStatus } from '@vision/shared/contracts/inference';
import type { JobFacts, Move, Task } from './task.ts';
import { longestRunEnds } from './task.ts';

/** What to do with a task after the backend was asked about its job. */
export type Verdict =
  | { do: 'move'; move: Move; reason?: string | undefined; alarm?: 'results_late' | undefined }
  /** Ask the backend to stop the job (again). */
  | { do: 'stop' }
  /** Move when results has as many frames as the backend says it published; wait else. */
  | { do: 'await_frames'; published: number; move: Move; reason: string | undefined }
  | { do: 'wait' };

export interface ProgressRules {
  now: Date;
  /** The instant that dates go by; differs from `now` only in tests that look at days that have not come. */
  today: Date;
  /** After the backend's end the frames may take this long to become readable. */
  resultsGraceMs: number;
}

const endMoves: Partial<Record<JobStatus, Move>> = {
  stopped: 'end_stopped',
  succeeded: 'end_succeeded',
  failed: 'end_failed',
};

/**
 * Whether an answer shows that the submission arrived. A stop of an id that the backend never heard of is recorded there as a
 * stopped job without frames, so such a job proves nothing unless the job was seen before.
 */
export function isEvidence(task: Task, job: Job): boolean {
  return job.status !== 'stopped' || job.frames_published > 0 || task.job.seenAt !== null;
}

/** The next step of a task whose job the backend has. `facts` already hold this answer. */
export function judgeFound(task: Task, job: Job, rules: ProgressRules): Verdict {
  if (task.status === 'submitting' || task.status === 'resolving') return { do: 'move', move: 'find' };
  const move = endMoves[job.status];
  // Verified as not created, and yet it is there.
  if (task.status === 'refunded') return move ? { do: 'wait' } : { do: 'stop' };
  if (move) return judgeEnd(task.job, { move, job, rules });
  if (task.status === 'stopping') return { do: 'stop' };
  if (task.stopRequestedAt !== null || rules.today >= longestRunEnds(task)) return { do: 'move', move: 'stop' };
  return { do: 'wait' };
}

/** A task ends when its frames can be read: end mark stored, nothing published at all, as many stored as published, or the grace is over. */
function judgeEnd(facts: JobFacts, { move, job, rules }: { move: Move; job: Job; rules: ProgressRules }): Verdict {
  const reason = move === 'end_failed' ? (job.error ?? 'job_failed') : undefined;
  if (facts.resultsCompletedAt !== null || job.frames_published === 0) return { do: 'move', move, reason };
  const endedAt = facts.endedAt ?? rules.now;
  if (rules.now.getTime() - endedAt.getTime() < rules.resultsGraceMs) {
    return { do: 'await_frames', published: job.frames_published, move, reason };
  }
  return { do: 'move', move, reason, alarm: 'results_late' };
}

/** Of the running jobs that were asked for, the share above which missing ones say more about the backend than about them. */
const MASS_SHARE = 1 / 5;

/**
 * Whether missing jobs may be counted as vanished at all: not when more than a fifth of those asked for is missing at once
 * (a restored or emptied backend). A single missing job is never a mass.
 */
export function isMassVanishing(askedFor: number, missing: number): boolean {
  return missing > 1 && missing > askedFor * MASS_SHARE;
}

/** A job that was seen before and is missing for at least `vanishMs` has vanished. */
export function hasVanished(task: Task, now: Date, vanishMs: number): boolean {
  const { seenAt, missingSince } = task.job;
  const asked = task.status === 'running' || task.status === 'stopping';
  return asked && seenAt !== null && missingSince !== null && now.getTime() - missingSince.getTime() >= vanishMs;
}
