/** Pause after that many failures in a row: 100 ms · 2ⁿ up to the maximum, with jitter over its upper half. */
export function backoff(failures: number, maxMs: number): number {
  const ceiling = Math.min(maxMs, 100 * 2 ** Math.min(failures, 16));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}
