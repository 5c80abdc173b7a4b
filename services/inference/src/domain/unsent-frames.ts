import type { FrameData } from '@vision/contracts/frame-events';
import type { JobMemory } from './frame-memory.ts';

/** Frames of one job that Kafka has not acknowledged, in their order. */
export interface UnsentFrames {
  /** Takes a frame; false when it did not fit into the memory. */
  add: (frame: FrameData) => boolean;
  /** The frames of the next batch, which stay in memory until they are acknowledged. */
  nextBatch: () => FrameData[];
  /** The last batch was acknowledged; returns it. */
  acknowledged: () => FrameData[];
  /** Frames that no batch has taken yet. */
  queued: () => number;
  /** All frames that are not acknowledged. */
  count: () => number;
  /** Gives the memory of what is left back, and reports the frames that were dropped last. */
  close: () => void;
}

/** Frames of a live job that were dropped one after the other, by their numbers. */
export interface DroppedFrames {
  frames: number;
  firstSeq: number;
  lastSeq: number;
}

export interface DropListener {
  /** Called for each frame that is dropped; `isFirst` after one that was kept. */
  onDrop: (frame: FrameData, isFirst: boolean) => void;
  /** Called when Kafka is sent frames behind the dropped ones, or when the job ends here. */
  onDropsEnd: (dropped: DroppedFrames) => void;
}

/** So many frames are worth a batch of their own. */
export const FULL_BATCH = 50;
// Brokers refuse batches above 1 MB; an object takes about 220 bytes.
const MAX_OBJECTS = 2000;

/**
 * With a listener the oldest queued frames make room for newer ones, as a live stream cannot wait; without one, a frame
 * that does not fit is kept all the same, and the caller has to wait before it adds another one. A batch on its way is
 * never dropped: Kafka may have it.
 */
export function createUnsentFrames(memory: JobMemory, drops?: DropListener): UnsentFrames {
  let sent: FrameData[] = [];
  const queue: FrameData[] = [];
  let dropped: DroppedFrames | undefined;

  const drop = (frame: FrameData) => {
    drops?.onDrop(frame, dropped === undefined);
    dropped = {
      frames: (dropped?.frames ?? 0) + 1,
      firstSeq: dropped?.firstSeq ?? frame.seq,
      lastSeq: frame.seq,
    };
  };
  const endDrops = () => {
    if (dropped) drops?.onDropsEnd(dropped);
    dropped = undefined;
  };
  const dropOldest = () => {
    const oldest = queue.shift();
    if (!oldest) return false;
    memory.free([oldest]);
    drop(oldest);
    return true;
  };
  return {
    add: (frame) => {
      while (drops && !memory.hasRoomFor(frame) && dropOldest());
      const hasRoom = memory.hasRoomFor(frame);
      if (!hasRoom && drops) {
        drop(frame);
        return false;
      }
      memory.take(frame);
      queue.push(frame);
      return hasRoom;
    },
    nextBatch: () => {
      sent = queue.splice(0, batchSize(queue));
      const [first] = sent;
      if (first && dropped && first.seq > dropped.lastSeq) endDrops();
      return sent;
    },
    acknowledged: () => {
      const frames = sent;
      sent = [];
      memory.free(frames);
      return frames;
    },
    queued: () => queue.length,
    count: () => sent.length + queue.length,
    close: () => {
      memory.free([...sent, ...queue]);
      endDrops();
    },
  };
}

function batchSize(frames: readonly FrameData[]): number {
  let objects = 0;
  const end = frames.findIndex((frame, index) => {
    objects += frame.objects.length;
    return index >= FULL_BATCH || (index > 0 && objects > MAX_OBJECTS);
  });
  return end < 0 ? frames.length : end;
}
