import { LRUCache } from 'lru-cache';

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
  const entries = new LRUCache<string, { value: V; span: Span }>({ max: size });
  return {
    get: (key) => {
      const entry = entries.get(key);
      const now = Date.now();
      if (entry && now >= entry.span.fromMs && now < entry.span.untilMs) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set: (key, value, span) => void entries.set(key, { value, span }),
  };
}
