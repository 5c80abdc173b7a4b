import type { FrameData, JobEndedData } from '@vision/contracts/frame-events';

/** One message of the frames topic. */
export type FrameMessage = { kind: 'frame'; data: FrameData } | { kind: 'end'; data: JobEndedData };

/** State of a task before a run of messages. */
export interface SeenBefore {
  /** Newest attempt so far; -1 before the first. */
  attempt: number;
  /** Smallest frame number of that attempt; null without frames. */
  firstSeq: number | null;
  /** The end-of-stream marker of that attempt has been applied: no frame of it may follow. */
  hasEnded: boolean;
}

/** Two different frames with the same number. */
export interface FrameConflict {
  seq: number;
  /** The attempt of the stored frame. */
  keptAttempt: number;
  /** The attempt of the rejected frame. */
  refusedAttempt: number;
}

/** Effect of a run of messages on one task. */
export interface Fold {
  /** Newest attempt, including these messages. */
  attempt: number;
  /** Frames to store, each number once, in order of their numbers. */
  frames: FrameData[];
  /** Different frames with the same number. */
  conflicts: FrameConflict[];
  /** The end-of-stream marker that applies after these messages, if one of them is it. */
  end: JobEndedData | undefined;
  /** A newer attempt began, so the marker of the older one no longer applies. */
  restarted: boolean;
  /** Messages of an older attempt. */
  ignored: number;
}

/**
 * Folds messages of one task, in the order of the topic. Messages of an attempt after those of a newer one are ignored:
 * they come from a worker that lost its job. One exception: a frame below the first number of the newer attempt was
 * published before that attempt began and only read late, from another partition.
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
  // A repeat by a newer attempt counts for that attempt, because the newer attempt's end-of-stream marker counts it.
  if (!known || frame.attempt > known.attempt) frames.set(frame.seq, frame);
}

/** Whether two frames with the same number are the same. Tracks have other names in each attempt. */
function isSameFrame(one: FrameData, other: FrameData): boolean {
  return (
    one.frame_time_ms === other.frame_time_ms &&
    one.image.width === other.image.width &&
    one.image.height === other.image.height
  );
}
