/** Frames of one attempt, by their numbers. */
export interface AttemptFrames {
  count: number;
  first: number | null;
  last: number | null;
}

/** Frames of a task, and those of its last attempt. */
export interface FramesOfTask {
  frames: number;
  attempt: AttemptFrames;
}

/** A task that has ended, as its events and counters describe it. */
export interface EndedTask {
  taskId: string;
  /** As the backend says; null when an earlier release told of the end. */
  published: number | null;
  /** As counted when they were stored. */
  stored: number;
  hasEndMark: boolean;
  /** Number of the last attempt; null without frames and end mark. */
  lastAttempt: number | null;
  /** Frames of the last attempt, as its end mark says. */
  marked: AttemptFrames | null;
  /** Frames by the counters that are kept while storing. */
  byCounters: FramesOfTask;
}

/**
 * Whether frames of an ended task are missing: its frames, stored or only published, have no end mark, are others than
 * were counted, fewer than were published, or are not those that the end mark speaks of.
 */
export function isIncomplete(task: EndedTask, { frames, attempt }: FramesOfTask): boolean {
  // An end mark counts the frames of its own attempt; what the backend published is of all attempts.
  if (frames !== task.stored || (task.published ?? 0) > task.stored) return true;
  if (!task.hasEndMark && (task.published ?? task.stored) > 0) return true;
  return task.marked !== null && task.marked.count > 0 && isShortOf(attempt, task.marked);
}

function isShortOf({ count, first, last }: AttemptFrames, marked: AttemptFrames): boolean {
  if (count < marked.count || first === null || last === null) return true;
  return first > (marked.first ?? first) || last < (marked.last ?? last);
}
