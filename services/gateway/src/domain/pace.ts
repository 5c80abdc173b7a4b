export interface PaceLimits {
  minBytesPerS: number;
  /** Time of waiting over which the pace is measured. */
  windowMs: number;
}

export interface Pace {
  /** Adds a period of waiting for the client alone; returns whether the client was too slow. */
  add: (waitedMs: number, bytes: number) => boolean;
}

/** Measures the pace of one direction of a connection. The caller excludes time in which the client need not act. */
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
