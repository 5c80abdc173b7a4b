/** Wakes one waiting loop. Code that makes work rings; the loop waits between two queries. */
export interface Bell {
  /** Ends the current wait, or the next one if no loop waits now. Cheap, may be called any number of times. */
  ring: () => void;
  /** Resolves at the next ring, after `ms` at the latest. For one waiter at a time. */
  wait: (ms: number) => Promise<void>;
}

/** A ring while no loop waits is remembered, so a wake between "found nothing" and "wait" is not lost. */
export function createBell(): Bell {
  let isRung = false;
  let release: (() => void) | undefined;
  return {
    ring: () => {
      isRung = true;
      release?.();
    },
    wait: async (ms) => {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        release = resolve;
        await promise;
        clearTimeout(timer);
      }
      isRung = false;
      release = undefined;
    },
  };
}
