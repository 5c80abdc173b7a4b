import { backoff } from '@vision/shared/async/backoff';
import { retryUntil } from '@vision/shared/async/retry-until';
import { asUnavailable } from '@vision/shared/unavailable';

/** Longer than a failover of the database takes, and shorter than the gateway waits for an answer. */
const LONGEST_MS = 60_000;
const LONGEST_PAUSE_MS = 500;

/**
 * Repeats something through an outage of the database: for what only this process knows, and what would have to wait
 * for an operator otherwise.
 * @throws the last failure when the outage lasts, and every failure that is none.
 */
export async function throughOutage<T>(work: () => Promise<T>, longestMs = LONGEST_MS): Promise<T> {
  const deadline = performance.now() + longestMs;
  return retryUntil(work, {
    signal: new AbortController().signal,
    pauseAfter: (error, failures) =>
      asUnavailable(error) && performance.now() < deadline ? backoff(failures, { maxMs: LONGEST_PAUSE_MS }) : undefined,
  });
}
