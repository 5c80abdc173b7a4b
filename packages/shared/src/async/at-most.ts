import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for work that goes on by itself, but no longer than `ms`: for what a caller should not have to wait for when it
 * hangs. Resolves with whether it ended in time; rejects when it fails in time. Whoever needs to hear of a later
 * failure handles it in the work.
 */
export async function atMost(ms: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = delay(ms, false, { signal: over.signal, ref: false });
  late.catch(() => undefined);
  work.catch(() => undefined);
  try {
    // eslint-disable-next-line no-restricted-syntax -- the timer is cleared below, the work is its owner's
    return await Promise.race([work.then(() => true), late]);
  } finally {
    over.abort();
  }
}
