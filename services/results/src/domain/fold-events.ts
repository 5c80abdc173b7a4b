import type { FrameData, JobEndedData } from '@vision/contracts/frame-events';

/** One message of the frames topic. */
export type FrameMessage = { kind: 'frame'; data: FrameData } | { kind: 'end'; data: JobEndedData };

/** What was seen of a task before a run of messages. */
export interface SeenBefore {
  /** Newest attempt seen; -1 before the first. */
  attempt: number;
  /** Smallest frame number of that attempt; null when none was seen. */
  firstSeq: number | null;
  /** The end mark of that attempt is in force: nothing may follow. */
  hasEnded: boolean;
}

/** Two frames that say that they are the same one, and are not. */
export interface FrameConflict {
  seq: number;
  /** The attempt of the frame that is kept. */
  keptAttempt: number;
  /** The attempt of the frame that is not stored. */
  refusedAttempt: number;
}

/** What a run of messages means for one task. */
export interface Fold {
  /** Newest attempt seen, these messages included. */
  attempt: number;
  /** Frames to store, each number once, in order of their numbers. */
  frames: FrameData[];
  /** Different frames under one number. */
  conflicts: FrameConflict[];
  /** The mark that is in force after these messages, when one of them is it. */
  end: JobEndedData | undefined;
  /** A newer attempt began, so a mark of the older one is no longer in force. */
  restarted: boolean;
  /** Messages of an older attempt. */
  ignored: number;
}

/**
 * Folds messages of one task, in the order of the topic. What an attempt says after a newer one has been seen is
 * ignored: it comes from a worker that lost its job. One exception: a frame below the first number of the newer attempt
 * was published before that one began and only read late, from another partition.
 */
export function foldMessages(messages: FrameMessage[], seen: SeenBefore): Fold {
  const frames = new Map<number, FrameData>();
  let firstSeq = seen.firstSeq ?? -1;
  const fold: Fold = {
    attempt: seen.attempt,
    frames: [],
    conflicts: [],
    end: undefined,
    restarted: false,
    ignored: 0,
  };
  for (const { kind, data } of messages) {
    const hasEnded = seen.hasEnded && !fold.restarted;
    if (data.attempt < fold.attempt && (kind === 'end' || hasEnded || data.seq >= firstSeq)) {
      fold.ignored += 1;
      continue;
    }
    if (data.attempt > fold.attempt) {
      fold.attempt = data.attempt;
      fold.restarted = true;
      fold.end = undefined;
      firstSeq = -1;
    }
    if (kind === 'end') {
      fold.end = data;
      continue;
    }
    if (data.attempt === fold.attempt) firstSeq = firstSeq < 0 ? data.seq : Math.min(firstSeq, data.seq);
    addFrame(fold, frames, data);
  }
  fold.frames = [...frames.values()].sort((a, b) => a.seq - b.seq);
  return fold;
}

function addFrame({ conflicts }: Fold, frames: Map<number, FrameData>, frame: FrameData): void {
  const known = frames.get(frame.seq);
  if (known && !isSameFrame(known, frame)) {
    conflicts.push({ seq: frame.seq, keptAttempt: known.attempt, refusedAttempt: frame.attempt });
    return;
  }
  // A repeat by a newer attempt counts for that attempt, which is the one that its end mark speaks of.
  if (!known || frame.attempt > known.attempt) frames.set(frame.seq, frame);
}

/** Whether two frames of one number are the same picture. Tracks have other names in each attempt. */
function isSameFrame(one: FrameData, other: FrameData): boolean {
  return (
    one.frame_time_ms === other.frame_time_ms &&
    one.image.width === other.image.width &&
    one.image.height === other.image.height
  );
}
