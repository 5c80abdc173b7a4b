import { setTimeout as delay } from 'node:timers/promises';
import { asUnavailable } from '../unavailable.ts';
import { backoff } from './backoff.ts';

export interface RetryOptions {
  /** Ends the repetition between two tries; its reason is thrown then. */
  signal: AbortSignal;
  /**
   * Told of every failure with its number, from 1. Returns the milliseconds until the next try, undefined to give up:
   * the failure is thrown then. Left out, outages of a store or the broker are waited out with a backoff up to 2 s and
   * all else is thrown.
   */
  pauseAfter?: (error: unknown, failures: number) => number | undefined;
  /** Waits between two tries; for callers that have something to do meanwhile. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Repeats work until it succeeds, the failure is not worth another try, or the signal aborts. */
export async function retryUntil<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, pauseAfter = duringOutages, pause = sleep } = options;
  for (let failures = 1; ; failures += 1) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const ms = pauseAfter(error, failures);
      if (ms === undefined) throw error;
      await pause(ms, signal);
    }
  }
}

/** Waits out outages of a store or the broker with a backoff up to 2 s; undefined for all else. */
export const duringOutages = (error: unknown, failures: number) =>
  asUnavailable(error) ? backoff(failures, { maxMs: 2_000 }) : undefined;

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
