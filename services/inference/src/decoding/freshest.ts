/**
 * Holds one item between a writer that never waits and a reader that may be slow: a new item replaces one
 * not taken yet.
 */
export interface Freshest<T> {
  put: (item: T) => void;
  /** Nothing more comes; the reader gets the item that is held, then the end or the error. */
  end: (error?: Error) => void;
  take: () => Promise<T | undefined>;
  /** Items replaced before they were taken. */
  dropped: () => number;
  /** Those of them that had waited: the reader was busy. The others came at once, one behind the other. */
  overdue: () => number;
  /** Whether something waits for the reader. */
  isWaiting: () => boolean;
}

export interface FreshestOptions {
  /** How long an item waits until it counts as overdue. */
  overdueMs: number;
  /** Monotonic clock, milliseconds. */
  now?: () => number;
}

export function createFreshest<T>({ overdueMs, now = () => performance.now() }: FreshestOptions): Freshest<T> {
  let item: { value: T; since: number } | undefined;
  let ending: { error: Error | undefined } | undefined;
  let dropped = 0;
  let overdue = 0;
  let wake: () => void = () => undefined;
  return {
    put: (value) => {
      const at = now();
      if (item) dropped += 1;
      if (item && at - item.since >= overdueMs) overdue += 1;
      item = { value, since: at };
      wake();
    },
    end: (error) => {
      ending ??= { error };
      wake();
    },
    take: async () => {
      for (;;) {
        const taken = item;
        item = undefined;
        if (taken) return taken.value;
        if (ending?.error) throw ending.error;
        if (ending) return undefined;
        const woken = Promise.withResolvers<void>();
        wake = woken.resolve;
        await woken.promise;
      }
    },
    dropped: () => dropped,
    overdue: () => overdue,
    isWaiting: () => item !== undefined,
  };
}
