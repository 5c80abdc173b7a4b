import type { FrameData, JobEndedData } from '@vision/shared/contracts/frame-events';

/** One message of the frames topic. */
export type FrameMessage = { kind: 'frame'; data: FrameData } | { kind: 'end'; data: JobEndedData };

/** What a run of messages means for one task. */
export interface Fold {
  /** Newest attempt seen, these messages included. */
  attempt: number;
  /** Frames to store, each number once, in order of their numbers. */
  frames: FrameData[];
  /** The mark that is in force after these messages, when one of them is it. */
  end: JobEndedData | undefined;
  /** A newer attempt began, so a mark of the older one is no longer in force. */
  restarted: boolean;
  /** Messages of an older attempt. */
  ignored: number;
}

/**
 * Folds messages of one task, in the order of the topic. What an attempt says after a newer one has been seen is
 * ignored: it comes from a worker that lost its job.
 */
export function foldMessages(messages: FrameMessage[], newestAttempt: number): Fold {
  const frames = new Map<number, FrameData>();
  const fold: Fold = { attempt: newestAttempt, frames: [], end: undefined, restarted: false, ignored: 0 };
  for (const { kind, data } of messages) {
    if (data.attempt < fold.attempt) {
      fold.ignored += 1;
      continue;
    }
    if (data.attempt > fold.attempt) {
      fold.attempt = data.attempt;
      fold.restarted = true;
      fold.end = undefined;
    }
    if (kind === 'end') fold.end = data;
    else if (!frames.has(data.seq)) frames.set(data.seq, data);
  }
  fold.frames = [...frames.values()].sort((a, b) => a.seq - b.seq);
  return fold;
}
