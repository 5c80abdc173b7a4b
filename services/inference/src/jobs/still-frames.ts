import type { StillSettings } from '@vision/contracts/scenes';
import { isStill } from '../domain/stillness.ts';
import type { JobFrame } from './job-frames.ts';

/** Decides which frames of one job are looked at by the model. */
export interface StillFrames {
  /** Whether a frame repeats what was found in the last one that was looked at. Frames are asked about in order. */
  repeats: (frame: JobFrame) => boolean;
}

/**
 * Frames are compared with the last one that was looked at, not with the one before: what changes slowly adds up until
 * it is a change. However still a scene is, it is looked at again after `longest_ms`. Without settings every frame is.
 */
export function createStillFrames(settings: StillSettings | undefined): StillFrames {
  let seen: JobFrame | undefined;
  return {
    repeats: (frame) => {
      if (!settings) return false;
      const elapsedMs = seen === undefined ? Infinity : frame.timeMs - seen.timeMs;
      const isRecent = elapsedMs >= 0 && elapsedMs < settings.longest_ms;
      if (isRecent && seen && isStill(seen.pixels, frame.pixels, settings.least_change)) return true;
      seen = frame;
      return false;
    },
  };
}
