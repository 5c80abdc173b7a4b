/** Wakes one waiting loop. Code that makes work calls `wake`; the loop calls `wait` between two queries. */
export interface WakeUp {
  /** Ends the current wait, or the next one if no loop waits now. Cheap, may be called any number of times. */
  wake: () => void;
  /** Resolves at the next wake, after `ms` at the latest. For one waiter at a time. */
  wait: (ms: number) => Promise<void>;
}

/** A wake while no loop waits is remembered, so one between "found nothing" and "wait" is not lost. */
export function createWakeUp(): WakeUp {
  let isWoken = false;
  let release: (() => void) | undefined;
  return {
    wake: () => {
      isWoken = true;
      release?.();
    },
    wait: async (ms) => {
      if (!isWoken) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        release = resolve;
        await promise;
        clearTimeout(timer);
      }
      isWoken = false;
      release = undefined;
    },
  };
}
