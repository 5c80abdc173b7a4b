import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for work that goes on by itself, but no longer than `ms`: for what a caller should not have to wait for when it hangs.
 * Resolves either way; rejects when the work fails in time. Whoever needs to hear of a later failure handles it in the work.
 */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  work.catch(() => undefined);
  try {
    await Promise.race([work, delay(ms, undefined, { signal: over.signal, ref: false })]);
  } finally {
    over.abort();
  }
}
