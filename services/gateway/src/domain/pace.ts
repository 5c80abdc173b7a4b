export interface PaceLimits {
  minBytesPerS: number;
  /** Time of waiting after which the pace is judged. */
  windowMs: number;
}

export interface Pace {
  /** Adds a stretch of time in which nobody but the client was waited for; returns whether it was too slow. */
  add: (waitedMs: number, bytes: number) => boolean;
}

/** Judges one direction of a connection. Time in which the client owes nothing is left out by whoever adds. */
export function createPace({ minBytesPerS, windowMs }: PaceLimits): Pace {
  let waitedMs = 0;
  let bytes = 0;
  return {
    add: (moreMs, moreBytes) => {
      waitedMs += moreMs;
      bytes += moreBytes;
      if (waitedMs < windowMs) return false;
      const isTooSlow = bytes * 1000 < minBytesPerS * waitedMs;
      waitedMs = 0;
      bytes = 0;
      return isTooSlow;
    },
  };
}
