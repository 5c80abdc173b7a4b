import type { Box, BoxMotion } from './box-motion.ts';

/** What a detector found in one frame. */
export interface Detected {
  label: string;
  /** Probability of being right, 0..1. */
  score: number;
  bbox: Box;
}

/** One object over time. */
export interface Track {
  id: string;
  motion: BoxMotion;
  /** Time the motion was predicted to, and time of the last detection. */
  movedAtMs: number;
  seenAtMs: number;
  /** How long nothing was found of it before this frame. */
  missedMs: number;
  hits: number;
  /** Not yet known to be an object of its own: it began unsure, or over a better detection. */
  isDoubtful: boolean;
}
