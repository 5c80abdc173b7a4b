import type { FrameData } from '@vision/contracts/frame-events';

/** Memory for frames that wait for Kafka, shared by the jobs of one worker. */
export interface FrameMemory {
  /** The share of one job. */
  open: () => JobMemory;
  /** Bytes in use by all jobs. */
  usedBytes: () => number;
}

export interface JobMemory {
  /** Whether a frame fits into both limits now. */
  hasRoomFor: (frame: FrameData) => boolean;
  take: (frame: FrameData) => void;
  free: (frames: readonly FrameData[]) => void;
}

export interface FrameMemoryLimits {
  /** Bytes that the frames of one job may use. */
  jobBytes: number;
  /** Bytes that the frames of all jobs together may use. */
  workerBytes: number;
}

export function createFrameMemory({ jobBytes, workerBytes }: FrameMemoryLimits): FrameMemory {
  let used = 0;
  return {
    usedBytes: () => used,
    open: () => {
      let ofJob = 0;
      const add = (bytes: number) => {
        ofJob += bytes;
        used += bytes;
      };
      return {
        hasRoomFor: (frame) => {
          const bytes = bytesOf(frame);
          return ofJob + bytes <= jobBytes && used + bytes <= workerBytes;
        },
        take: (frame) => add(bytesOf(frame)),
        free: (frames) => frames.forEach((frame) => add(-bytesOf(frame))),
      };
    },
  };
}

// What the heap of Node.js 24 uses for a frame and for each of its objects, as measured, rounded up.
const FRAME_BYTES = 320;
const OBJECT_BYTES = 260;

const bytesOf = ({ objects }: FrameData) => FRAME_BYTES + OBJECT_BYTES * objects.length;
