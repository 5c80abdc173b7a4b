/** Bounds how often something is done; the clock is its caller's. */
export interface Tokens {
  has: (atMs: number) => boolean;
  /** Takes one; false when there is none. */
  take: (atMs: number) => boolean;
}

/** A bucket that is full at first. */
export function createTokens({ perSecond, burst }: { perSecond: number; burst: number }): Tokens {
  let left = burst;
  let filledAtMs = -Infinity;
  const fill = (atMs: number) => {
    if (atMs <= filledAtMs) return;
    left = Math.min(burst, left + ((atMs - filledAtMs) / 1000) * perSecond);
    filledAtMs = atMs;
  };
  return {
    has: (atMs) => {
      fill(atMs);
      return left >= 1;
    },
    take: (atMs) => {
      fill(atMs);
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
