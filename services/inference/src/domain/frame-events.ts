import { frameProduced, segmentProduced } from '@vision/contracts/frame-events';
import type { FrameData } from '@vision/contracts/frame-events';
import { encodeFrameSegment, fitsSegment, splitIntoFrameSegments } from '@vision/contracts/segments/frame-segment';

/** An event of the frames topic, without where it goes. */
interface FrameEvent {
  topic: string;
  type: string;
  id: string;
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
  splitIntoFrameSegments(frames).flatMap((run) => (fitsSegment(run) ? segmentOf(run) : singly(run)));

function segmentOf(run: FrameData[]): FrameEvent[] {
  const [first, last] = [run[0], run.at(-1)];
  if (!first || !last) return [];
  const id = `${first.job_id}/${first.seq}-${last.seq}`;
  return [{ topic: segmentProduced.topic, type: segmentProduced.type, id, data: encodeFrameSegment(run) }];
}
