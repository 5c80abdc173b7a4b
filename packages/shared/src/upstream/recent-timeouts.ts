import { isTimeout } from './error-type.ts';
import type { CallOutcome } from './error-type.ts';

export interface TimedOutCalls {
  upstream: string;
  operation: string;
  timeouts: number;
}

export interface RecentTimeouts {
  /** Counts a call whose outcome is a time-out; ignores all others. */
  note: (call: { upstream: string; operation: string; outcome: CallOutcome }) => void;
  /** The time-outs of the last minute, by upstream and operation. */
  read: () => TimedOutCalls[];
}

const PERIOD_MS = 60_000;
const STEP_MS = 1_000;

export function createRecentTimeouts(now: () => number = () => performance.now()): RecentTimeouts {
  // Counts by second, so that an outage under load needs no more memory than a single time-out.
  const counts = new Map<string, TimedOutCalls & { step: number }>();
  const forgetOld = () => {
    const oldest = (now() - PERIOD_MS) / STEP_MS;
    for (const [key, { step }] of counts) if (step < oldest) counts.delete(key);
  };
  return {
    note: ({ upstream, operation, outcome }) => {
      if (!isTimeout(outcome)) return;
      forgetOld();
      const step = Math.floor(now() / STEP_MS);
      const key = `${step} ${upstream} ${operation}`;
      const count = counts.get(key);
      if (count) count.timeouts += 1;
      else counts.set(key, { step, upstream, operation, timeouts: 1 });
    },
    read: () => {
      forgetOld();
      const sums = new Map<string, TimedOutCalls>();
      for (const { upstream, operation, timeouts } of counts.values()) {
        const key = `${upstream} ${operation}`;
        sums.set(key, { upstream, operation, timeouts: timeouts + (sums.get(key)?.timeouts ?? 0) });
      }
      return [...sums.values()];
    },
  };
}

/** Of this process. */
export const recentTimeouts = createRecentTimeouts();
