/**
 * Pause before try `failures` (from 1): evenly random between `minMs`/2 and a ceiling that doubles from `minMs` to `maxMs`.
 *
 * Source: M. Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015), "full jitter"; the floor keeps a
 * source that refuses at once from being asked in a tight loop.
 */
export function fullJitter(failures: number, bounds: { minMs: number; maxMs: number }, random = Math.random): number {
  const ceiling = Math.min(bounds.maxMs, bounds.minMs * 2 ** Math.min(failures - 1, 30));
  return bounds.minMs / 2 + random() * (ceiling - bounds.minMs / 2);
}
