import type { SeenObject } from './rules/state.ts';
import type { FoldedFrame } from './state.ts';
import type { ObjectView } from './tracks.ts';

/** A frame whose objects several readers need: they are decoded once. */
export interface WatchedFrame extends FoldedFrame {
  seen?: SeenObject[];
}

/** Wraps the frame so that any reader of it also collects the objects with these labels. */
export function watched(frame: FoldedFrame, labels: ReadonlySet<string>): WatchedFrame {
  const { seq, timeMs, position } = frame;
  const copy: WatchedFrame = {
    seq,
    timeMs,
    position,
    eachObject: (take) => {
      const seen: SeenObject[] = (copy.seen = []);
      frame.eachObject((object) => {
        if (labels.has(object.label)) seen.push(seenObject(object));
        take(object);
      });
    },
  };
  return copy;
}

/** The objects of a frame that have one of these labels. */
export function readObjects({ eachObject }: FoldedFrame, labels: ReadonlySet<string>): SeenObject[] {
  const seen: SeenObject[] = [];
  eachObject((object) => {
    if (labels.has(object.label)) seen.push(seenObject(object));
  });
  return seen;
}

const seenObject = ({ label, trackId, score, cx, cy, width, height }: ObjectView): SeenObject => ({
  label,
  trackId,
  score,
  cx,
  cy,
  width,
  height,
});
