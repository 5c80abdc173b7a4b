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
  /** Number from the backend; null when an earlier release reported the end. */
  published: number | null;
  /** Number counted when they were stored. */
  stored: number;
  hasEndMark: boolean;
  /** Number of the last attempt; null without frames and end-of-stream marker. */
  lastAttempt: number | null;
  /** Frames of the last attempt, from its end-of-stream marker. */
  marked: AttemptFrames | null;
  /** Frames by the counters that are updated while storing. */
  byCounters: FramesOfTask;
}

/**
 * Whether frames of an ended task are missing: frames, stored or only published, have no end-of-stream marker, or the
 * stored frames differ from the count, are fewer than were published, or differ from those of the marker.
 */
export function isIncomplete(task: EndedTask, { frames, attempt }: FramesOfTask): boolean {
  // An end-of-stream marker counts the frames of its own attempt; the backend's number counts all attempts.
  if (frames !== task.stored || (task.published ?? 0) > task.stored) return true;
  if (!task.hasEndMark && (task.published ?? task.stored) > 0) return true;
  return task.marked !== null && task.marked.count > 0 && isShortOf(attempt, task.marked);
}

function isShortOf({ count, first, last }: AttemptFrames, marked: AttemptFrames): boolean {
  if (count < marked.count || first === null || last === null) return true;
  return first > (marked.first ?? first) || last < (marked.last ?? last);
}
