import type { StillSettings } from '@vision/contracts/scenes';
import { isStill } from '../domain/stillness.ts';
import type { JobFrame } from './job-frames.ts';

/** Decides in which frames of one job the model detects objects. */
export interface StillFrames {
  /** Whether the objects of the last frame with detection apply to this one too. Call it with all frames in order. */
  repeats: (frame: JobFrame) => boolean;
}

/**
 * Frames are compared with the last frame with detection, not with the previous one, so that slow changes add up.
 * However still a scene is, detection runs again after `longest_ms`, and without settings in every frame.
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
