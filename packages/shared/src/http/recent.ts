/** Values by key until their time is over; of too many, those that were used least recently go. */
export interface Recent<V> {
  get: (key: string) => V | undefined;
  /** `untilMs`: as of `Date.now()`. */
  set: (key: string, value: V, untilMs: number) => void;
}

/** Remembers up to `size` values in this process. */
export function createRecent<V>(size: number): Recent<V> {
  const entries = new Map<string, { value: V; untilMs: number }>();
  return {
    get: (key) => {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      if (Date.now() >= entry.untilMs) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
    set: (key, value, untilMs) => {
      entries.delete(key);
      entries.set(key, { value, untilMs });
      for (const oldest of entries.keys()) {
        if (entries.size <= size) break;
        entries.delete(oldest);
      }
    },
  };
}
