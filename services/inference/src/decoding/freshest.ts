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
  /** Whether something waits for the reader. */
  isWaiting: () => boolean;
}

export function createFreshest<T>(): Freshest<T> {
  let item: { value: T } | undefined;
  let ending: { error: Error | undefined } | undefined;
  let dropped = 0;
  let wake: () => void = () => undefined;
  return {
    put: (value) => {
      if (item) dropped += 1;
      item = { value };
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
    isWaiting: () => item !== undefined,
  };
}
