export interface BackoffBounds {
  /** Ceiling after the first failure; 200 ms when left out. It doubles with each further failure. */
  minMs?: number;
  /** Highest ceiling. */
  maxMs: number;
  /**
   * Spread below the ceiling. `half`, the default: its upper half, for a store of our own. `full`: from half of
   * `minMs`, for a peer that many clients ask again at the same moment. `none`: the ceiling itself.
   */
  jitter?: 'half' | 'full' | 'none';
}

/**
 * Pause in milliseconds after that many failures in a row.
 *
 * Source: M. Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015); the floor of `full` keeps a peer
 * that refuses at once from being asked in a tight loop.
 */
export function backoff(
  failures: number,
  { minMs = 200, maxMs, jitter = 'half' }: BackoffBounds,
  random = Math.random,
): number {
  const ceiling = Math.min(maxMs, minMs * 2 ** Math.min(failures - 1, 30));
  if (jitter === 'none') return ceiling;
  const floor = jitter === 'full' ? minMs / 2 : ceiling / 2;
  return floor + random() * (ceiling - floor);
}
