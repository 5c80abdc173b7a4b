import type { Detected } from '../../services/inference/src/tracking/track.ts';
import type { Box } from '../../services/inference/src/tracking/box-motion.ts';

/** An object that is really there. */
export interface Labelled {
  id: number;
  bbox: Box;
}

export interface Frame {
  timeMs: number;
  truth: Labelled[];
  /** What a detector found; trackers get it, whatever they make of it. */
  found: Detected[];
}

/** Frames with their truth; all objects have one label. */
export interface Sequence {
  /** Sequences of one source are averaged. */
  source: string;
  /** Constants are chosen on `fit`; what is shown comes from `report`. */
  half: 'fit' | 'report';
  fps: number;
  /** Width of the picture over its height. */
  aspect: number;
  frames: Frame[];
}

/** A box that a tracker shows. */
export interface Shown {
  id: number | string;
  bbox: Box;
}

/** Truth and shown boxes of one frame, as the metrics compare them. */
export interface Compared {
  truth: Labelled[];
  shown: Shown[];
}
