import type { DetectedObject, ImageSize, TrackedObject } from '@vision/contracts/detection';
import { createTracker } from '../tracking/tracker.ts';

interface FollowedFrame {
  timeMs: number;
  image: ImageSize;
}

/** Gives the objects of one job their tracks, frame by frame. */
export interface Following {
  /** @param objects undefined when the frame repeats the one before */
  next: (frame: FollowedFrame, objects: readonly DetectedObject[] | undefined) => TrackedObject[];
}

/**
 * Frames in which nothing moved repeat the objects of the one before, with their tracks. Their time does not pass for
 * the tracker: it neither forgets what it saw nor expects it elsewhere.
 */
export function followObjects(prefix: string): Following {
  const tracker = createTracker(prefix);
  let tracked: TrackedObject[] = [];
  let lastMs: number | undefined;
  let stillMs = 0;
  return {
    next: ({ timeMs, image }, objects) => {
      if (objects) tracked = tracker.update(timeMs - stillMs, objects, image.width / image.height);
      else stillMs += Math.max(0, timeMs - (lastMs ?? timeMs));
      lastMs = timeMs;
      return tracked;
    },
  };
}
