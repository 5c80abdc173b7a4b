// A camera's clock may drift or jump, and data may arrive in bursts; within these bounds its timestamps are trusted.
const EARLY_MS = 100;
const LATE_MS = 3000;
// Frames that a buffer released all at once are older than the last assigned time, so they cannot have times of their
// own.
const LEAST_STEP_MS = 50;

/**
 * Dates by the wall clock for the frames of a live stream: an anchor plus the stream's own timestamps. A new anchor is
 * set when they diverge from the clock. Times grow, also across reconnects.
 *
 * @returns `timeOf`: the time (Unix milliseconds) of a frame by its timestamp and its arrival; undefined when the frame
 * belongs to a burst and should be left out
 */
export function createLiveClock(): LiveClock {
  let anchor: number | undefined;
  let last = -Infinity;
  return {
    timeOf: (ptsMs, arrivedAtMs) => {
      const lag = anchor === undefined ? Infinity : arrivedAtMs - (anchor + ptsMs);
      if (anchor === undefined || lag < -EARLY_MS || lag > LATE_MS) anchor = arrivedAtMs - ptsMs;
      const timeMs = Math.round(anchor + ptsMs);
      if (timeMs < last + LEAST_STEP_MS) return undefined;
      last = timeMs;
      return timeMs;
    },
    /** Clears the anchor: timestamps of the next connection have another origin. */
    reset: () => {
      anchor = undefined;
    },
  };
}

export interface LiveClock {
  timeOf: (ptsMs: number, arrivedAtMs: number) => number | undefined;
  reset: () => void;
}
