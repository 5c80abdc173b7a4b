import { LRUCache } from 'lru-cache';
import type { KeyRecord } from './api-keys.ts';
import type { FindKey } from './find-key.ts';

export interface KeyCache {
  /** The key if it is valid; queries the database when there is no fresh entry. */
  find: FindKey;
  /** Removes the entries of these keys and of all keys of these subjects. */
  forget: (changed: { keyIds?: string[]; subjects?: string[] }) => void;
}

export interface KeyCacheOptions {
  /** Queries the database. */
  findKey: FindKey;
  /** Maximum age of an entry, also while the database is unavailable. */
  freshMs: number;
}

interface Entry {
  /** Time of the query, so that the age is never too small. */
  askedAt: number;
  answer: Promise<KeyRecord | undefined>;
  known: KeyRecord | undefined;
}

const MAX_ENTRIES = 20_000;

/** Caches for a few seconds which keys are valid and which are not. Concurrent requests share one query. */
export function createKeyCache({ findKey, freshMs }: KeyCacheOptions): KeyCache {
  // Two caches, so that guessed keys never evict valid keys.
  const inForce = new LRUCache<string, Entry>({ max: MAX_ENTRIES });
  const others = new LRUCache<string, Entry>({ max: MAX_ENTRIES });
  const fresh = (keyId: string) => {
    const entry = inForce.get(keyId) ?? others.get(keyId);
    return entry && isFresh(entry, freshMs) ? entry : undefined;
  };
  const drop = (keyId: string) => {
    inForce.delete(keyId);
    others.delete(keyId);
  };
  const ask = (keyId: string): Entry => {
    const entry: Entry = { askedAt: performance.now(), known: undefined, answer: findKey(keyId) };
    drop(keyId);
    others.set(keyId, entry);
    const onAnswer = (record: KeyRecord | undefined) => {
      if (!record || others.get(keyId) !== entry) return;
      entry.known = record;
      others.delete(keyId);
      inForce.set(keyId, entry);
    };
    const onFailure = () => others.get(keyId) === entry && others.delete(keyId);
    entry.answer.then(onAnswer, onFailure);
    return entry;
  };
  return {
    find: (keyId) => (fresh(keyId) ?? ask(keyId)).answer,
    forget: ({ keyIds = [], subjects = [] }) => {
      keyIds.forEach((keyId) => drop(keyId));
      if (subjects.length === 0) return;
      const changed = new Set(subjects);
      for (const [keyId, { known }] of [...inForce.entries()])
        if (known && changed.has(known.subject)) inForce.delete(keyId);
    },
  };
}

function isFresh({ askedAt, known }: Entry, freshMs: number): boolean {
  return performance.now() - askedAt < Math.min(freshMs, known?.expiresInMs ?? freshMs);
}
