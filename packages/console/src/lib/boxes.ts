import type { components } from '@vision/client';

type Schemas = components['schemas'];
export type Box = Pick<Schemas['BoundingBox'], 'cx' | 'cy' | 'width' | 'height'>;

/** An object as it is drawn and listed. */
export interface Shown {
  label: string;
  score: number;
  bbox: Box;
  track_id?: string;
}

export interface Frame {
  frame_time_ms: number;
  objects: Shown[];
}

/** Boxes stand between two frames only when these are this close together. */
export const LONGEST_STEP_MS = 400;

/**
 * The objects at a moment. Between two frames that are close together, an object in both moves in a straight line; any
 * other stays where it was. A box is never shown longer than the step after its frame.
 */
export function objectsAt(frames: readonly Frame[], timeMs: number): Shown[] {
  const index = lastAtOrBefore(frames, timeMs);
  const frame = frames[index];
  if (!frame || timeMs - frame.frame_time_ms > LONGEST_STEP_MS) return [];
  const next = frames[index + 1];
  const stepMs = next ? next.frame_time_ms - frame.frame_time_ms : Infinity;
  if (!next || stepMs > LONGEST_STEP_MS) return frame.objects;
  const share = (timeMs - frame.frame_time_ms) / stepMs;
  const later = new Map(next.objects.map((object) => [object.track_id, object]));
  return frame.objects.map((object) => {
    const then = object.track_id === undefined ? undefined : later.get(object.track_id);
    return then ? { ...object, bbox: between(object.bbox, then.bbox, share) } : object;
  });
}

/** The objects of the frame that is nearest to a moment, if it is at most this far away. */
export function objectsNear(frames: readonly Frame[], timeMs: number, withinMs: number): Shown[] {
  const distance = (frame: Frame) => Math.abs(frame.frame_time_ms - timeMs);
  const nearest = frames.reduce<Frame | undefined>(
    (best, frame) => (best && distance(best) <= distance(frame) ? best : frame),
    undefined,
  );
  return nearest && distance(nearest) <= withinMs ? nearest.objects : [];
}

function between(a: Box, b: Box, share: number): Box {
  const mix = (from: number, to: number) => from + (to - from) * share;
  return {
    cx: mix(a.cx, b.cx),
    cy: mix(a.cy, b.cy),
    width: mix(a.width, b.width),
    height: mix(a.height, b.height),
  };
}

/** Index of the last frame that is not after the moment, -1 when there is none. The frames are in order. */
function lastAtOrBefore(frames: readonly Frame[], timeMs: number): number {
  let [low, high] = [0, frames.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((frames[middle]?.frame_time_ms ?? Infinity) <= timeMs) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export interface Filter {
  minScore: number;
  hidden: ReadonlySet<string>;
}

/** Whether the viewer wants to see an object. */
export const isWanted = ({ label, score }: { label: string; score: number }, { minScore, hidden }: Filter) =>
  score >= minScore && !hidden.has(label);
