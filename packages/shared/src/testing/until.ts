import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface UntilOptions {
  /** Ends a wait that is in vain, before the test runner does so without a word about what was seen. */
  timeoutMs?: number;
  /** Of the first questions; a wait that lasts asks less and less often. */
  intervalMs?: number;
}

/** Ends a wait for a fact that never comes: far above what any takes on a busy machine, below the runner's limit. */
const PATIENCE_MS = 180_000;
/** Files wait beside each other on the same cores: what asks all the time makes all of them wait longer. */
const LONGEST_INTERVAL_MS = 250;
const INTERVAL_OF_WAITED = 0.05;

/**
 * Asks again and again until `fn` gives something truthy, and returns that. A throwing `fn` counts as "not yet".
 * @throws Error that shows the last value or error, when time is up.
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
