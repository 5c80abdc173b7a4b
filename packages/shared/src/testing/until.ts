import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface UntilOptions {
  /** Time limit, below that of the test runner, whose error would not show the last value. */
  timeoutMs?: number;
  /** Interval of the first polls; it grows during a long wait. */
  intervalMs?: number;
}

/** Default time limit: far above the waits on a busy machine, below the runner's limit. */
const PATIENCE_MS = 180_000;
/** Test files share the cores: constant polling would delay all of them. */
const LONGEST_INTERVAL_MS = 250;
const INTERVAL_OF_WAITED = 0.05;

/**
 * Polls until `fn` returns something truthy, and returns that. A throwing `fn` counts as "not yet".
 * @throws Error that shows the last value or error after the time limit.
 */
export async function until<T>(
  fn: () => T | Promise<T>,
  { timeoutMs = PATIENCE_MS, intervalMs = 25 }: UntilOptions = {},
): Promise<NonNullable<T>> {
  const begun = Date.now();
  let last: unknown;
  for (;;) {
    try {
      const value = await fn();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    const waitedMs = Date.now() - begun;
    if (waitedMs >= timeoutMs)
      throw new Error(`not true after ${timeoutMs} ms; last seen: ${inspect(last, { depth: 4 })}`, { cause: last });
    await delay(Math.max(intervalMs, Math.min(waitedMs * INTERVAL_OF_WAITED, LONGEST_INTERVAL_MS)));
  }
}
