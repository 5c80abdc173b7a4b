import { fenceKey } from '../db/held-jobs.ts';
import type { Fence } from '../db/held-jobs.ts';
import type { JobProgress } from '../domain/job-progress.ts';

/**
 * How far the jobs of this worker are, until it is stored: for all of them at once, with their leases. What a worker
 * that dies had not stored is at most a second of frames; they are published, and only their count is lost.
 */
export interface ProgressNotes {
  /** Replaces what was noted before. */
  note: (job: Fence, progress: JobProgress) => void;
  /** What is not stored yet. */
  of: (job: Fence) => JobProgress | undefined;
  /** This much is stored; what was noted meanwhile stays. */
  stored: (job: Fence, progress: JobProgress) => void;
  /** The attempt is over here. */
  close: (job: Fence) => void;
}

export function createProgressNotes(): ProgressNotes {
  const notes = new Map<string, JobProgress>();
  return {
    note: (job, progress) => void notes.set(fenceKey(job), progress),
    of: (job) => notes.get(fenceKey(job)),
    stored: (job, progress) => {
      if (notes.get(fenceKey(job)) === progress) notes.delete(fenceKey(job));
    },
    close: (job) => void notes.delete(fenceKey(job)),
  };
}
