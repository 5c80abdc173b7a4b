import { setTimeout as delay } from 'node:timers/promises';

/** Waits before work that takes `costMs` of a bounded rate. @throws AbortError when the signal ends the wait */
export type Pace = (costMs: number, signal: AbortSignal) => Promise<void>;

/**
 * Work worth `aheadMs` may be done at once, and after that as much as time goes by.
 *
 * Source: generic cell rate algorithm (ITU-T I.371), with waiting in place of refusing.
 */
export function createPace(aheadMs: number): Pace {
  let paidUntil = -Infinity;
  return async (costMs, signal) => {
    const now = performance.now();
    paidUntil = Math.max(paidUntil, now) + costMs;
    const waitMs = paidUntil - now - aheadMs;
    if (waitMs > 0) await delay(waitMs, undefined, { signal });
  };
}
