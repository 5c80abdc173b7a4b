import { frameProduced, segmentProduced } from '@vision/contracts/frame-events';
import type { FrameData } from '@vision/contracts/frame-events';
import { encodeFrameSegment, fitsSegment, splitIntoFrameSegments } from '@vision/contracts/segments/frame-segment';

/** An event of the frames topic, without where it goes. */
interface FrameEvent {
  topic: string;
  type: string;
  /** A segment has none: its job and numbers, which are in it, name it. */
  id?: string;
  data: FrameData | Uint8Array;
}

/** Each frame as an event of its own. */
export const singly = (frames: readonly FrameData[]): FrameEvent[] =>
  frames.map((frame) => ({
    topic: frameProduced.topic,
    type: frameProduced.type,
    id: `${frame.job_id}/${frame.seq}`,
    data: frame,
  }));

/** Frames in as few segments as hold them; one that is too large for a segment is an event of its own. */
export const inSegments = (frames: readonly FrameData[]): FrameEvent[] =>
  splitIntoFrameSegments(frames).flatMap((run) => (fitsSegment(run) ? [segmentOf(run)] : singly(run)));

const segmentOf = (run: FrameData[]): FrameEvent => ({
  topic: segmentProduced.topic,
  type: segmentProduced.type,
  data: encodeFrameSegment(run),
});
