import { setTimeout as delay } from 'node:timers/promises';
import { backoff } from '@vision/shared/async/backoff';
import { asAppError } from '@vision/shared/errors';
import { asUnavailable } from '@vision/shared/unavailable';

/** Repeats work while a store or the broker is away, until the signal aborts; throws its reason then, and every other error at once. */
export async function persistently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (asAppError(error)?.kind !== 'unavailable' && !asUnavailable(error)) throw error;
      await delay(backoff(failures, 2000), undefined, { signal });
    }
  }
}
