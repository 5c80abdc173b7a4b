/** Pause after that many failures in a row: 100 ms · 2ⁿ up to the maximum, with jitter over its upper half. */
export function backoff(failures: number, maxMs: number): number {
  const ceiling = Math.min(maxMs, 100 * 2 ** Math.min(failures, 16));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

/**
 * Pause before try `failures` (from 1): evenly random between `minMs`/2 and a ceiling that doubles from `minMs` to
 * `maxMs`. For a peer that many clients ask again at the same moment; `backoff` is for a store of our own.
 *
 * Source: M. Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015), "full jitter"; the floor keeps a
 * source that refuses at once from being asked in a tight loop.
 */
export function fullJitter(failures: number, bounds: { minMs: number; maxMs: number }, random = Math.random): number {
  const ceiling = Math.min(bounds.maxMs, bounds.minMs * 2 ** Math.min(failures - 1, 30));
  return bounds.minMs / 2 + random() * (ceiling - bounds.minMs / 2);
}
