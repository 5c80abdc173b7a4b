import { fail } from '@vision/shared/errors';

/** Counts the calls this process works on: bounds what they need on disk, and lets a stop wait for those whose client left. */
export interface CallGate {
  /** @throws AppError OP-SYS-UNAVAILABLE `too_many_calls` */
  run: <T>(work: () => Promise<T>) => Promise<T>;
  /** Resolves when no call is left. */
  idle: () => Promise<void>;
}

export function createCallGate(maxCalls: number): CallGate {
  const running = new Set<Promise<unknown>>();
  return {
    run: async (work) => {
      if (running.size >= maxCalls) throw fail.sysUnavailable('too_many_calls', undefined, 1);
      const call = work();
      running.add(call);
      try {
        return await call;
      } finally {
        running.delete(call);
      }
    },
    idle: async () => {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
