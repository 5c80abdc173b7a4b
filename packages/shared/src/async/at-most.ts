import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for `work`, but no longer than `ms`; the work itself continues in the background. For clean-up that a caller
 * should not have to wait for when it hangs. Resolves with whether it ended in time; rejects when it fails in time. A
 * later failure is only seen if the work itself handles it.
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
