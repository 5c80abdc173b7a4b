import type { RgbImage } from './rgb-image.ts';

/** A snapshot with the time of the frame that it shows. */
export interface LiveSnapshot {
  /** Unix time in milliseconds, as that of the frame. */
  timeMs: number;
  /** When the frame arrived, by the clock of this process. */
  arrivedAtMs: number;
  pixels: RgbImage;
}

export interface SnapshotPairs {
  /** A sampled frame arrived; without a time when it is left out. */
  frame: (ptsMs: number, timeMs: number | undefined) => void;
  snapshot: (snapshot: { ptsMs: number; pixels: RgbImage }) => void;
  /** A new connection begins, with a clock of its own. */
  reset: () => void;
}

export interface SnapshotPairsOptions {
  now: () => number;
  onPair: (snapshot: LiveSnapshot) => void;
  /** A snapshot came too long after its frame, or belongs to none. */
  onLate: () => void;
}

/** A snapshot that comes so long after its frame is left out. */
const LATE_MS = 500;
const FRAMES_KNOWN = 32;

/** Pairs frames and snapshots, which arrive by two pipes in any order, by their presentation times. */
export function createSnapshotPairs({ now, onPair, onLate }: SnapshotPairsOptions): SnapshotPairs {
  const times = new Map<number, { timeMs: number | undefined; arrivedAtMs: number }>();
  let waiting: { ptsMs: number; pixels: RgbImage } | undefined;
  const pair = ({ ptsMs, pixels }: { ptsMs: number; pixels: RgbImage }): boolean => {
    const frame = times.get(ptsMs);
    if (!frame) return false;
    const { timeMs, arrivedAtMs } = frame;
    if (timeMs === undefined || now() - arrivedAtMs > LATE_MS) onLate();
    else onPair({ timeMs, arrivedAtMs, pixels });
    return true;
  };
  return {
    frame: (ptsMs, timeMs) => {
      times.set(ptsMs, { timeMs, arrivedAtMs: now() });
      const [oldest] = times.keys();
      if (times.size > FRAMES_KNOWN && oldest !== undefined) times.delete(oldest);
      if (waiting && pair(waiting)) waiting = undefined;
    },
    snapshot: (snapshot) => {
      if (waiting) onLate();
      waiting = pair(snapshot) ? undefined : snapshot;
    },
    reset: () => {
      times.clear();
      waiting = undefined;
    },
  };
}
