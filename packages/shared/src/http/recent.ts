/** When a value is good, as of `Date.now()`; so one from before a step of the clock is not kept beyond it. */
interface Span {
  fromMs: number;
  untilMs: number;
}

/** Values by key while their time lasts; of too many, those that were used least recently go. */
export interface Recent<V> {
  get: (key: string) => V | undefined;
  set: (key: string, value: V, span: Span) => void;
}

/** Remembers up to `size` values in this process. */
export function createRecent<V>(size: number): Recent<V> {
  const entries = new Map<string, { value: V; span: Span }>();
  return {
    get: (key) => {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      const now = Date.now();
      if (now < entry.span.fromMs || now >= entry.span.untilMs) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
    set: (key, value, span) => {
      entries.delete(key);
      entries.set(key, { value, span });
      for (const oldest of entries.keys()) {
        if (entries.size <= size) break;
        entries.delete(oldest);
      }
    },
  };
}
