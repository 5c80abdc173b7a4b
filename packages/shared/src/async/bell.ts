/** Wakes one waiting loop. Whoever makes work rings; the loop waits between two looks. */
export interface Bell {
  /** Ends the wait under way, or the next one if nobody waits now. Cheap, may be called any number of times. */
  ring: () => void;
  /** Resolves at the next ring, after `ms` at the latest. For one waiter at a time. */
  wait: (ms: number) => Promise<void>;
}

/** A ring while nobody waits is remembered, so a wake between "found nothing" and "wait" is not lost. */
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
