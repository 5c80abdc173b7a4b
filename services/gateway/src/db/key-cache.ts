import type { Knex } from 'knex';
import { findKeyInForce } from './api-keys.ts';
import type { KeyRecord } from './api-keys.ts';

export interface KeyCache {
  /** The key when it is in force; asks the database when nothing fresh is known. */
  find: (keyId: string) => Promise<KeyRecord | undefined>;
  /** Whether a fresh answer "in force" is at hand. */
  knows: (keyId: string) => boolean;
  /** Drops what is known about these keys and about all keys of these subjects. */
  forget: (changed: { keyIds?: string[]; subjects?: string[] }) => void;
}

export interface KeyCacheOptions {
  db: Knex;
  /** Age at which an answer is dropped; never served beyond, whatever state the database is in. */
  freshMs: number;
}

interface Entry {
  /** When the question was asked, so that the age counts from before the answer was true. */
  askedAt: number;
  answer: Promise<KeyRecord | undefined>;
  known: KeyRecord | undefined;
}

const ENTRIES_AT_MOST = 20_000;

/**
 * Remembers for a few seconds which keys are in force, and which are not. Requests at the same time share one query.
 */
export function createKeyCache({ db, freshMs }: KeyCacheOptions): KeyCache {
  const entries = new Map<string, Entry>();
  const fresh = (keyId: string) => {
    const entry = entries.get(keyId);
    return entry && isFresh(entry, freshMs) ? entry : undefined;
  };
  return {
    find: (keyId) => {
      const known = fresh(keyId);
      if (known) return known.answer;
      const entry: Entry = { askedAt: performance.now(), known: undefined, answer: findKeyInForce(db, keyId) };
      entries.delete(keyId);
      entries.set(keyId, entry);
      dropOldest(entries);
      entry.answer.then(
        (record) => (entry.known = record),
        () => entries.get(keyId) === entry && entries.delete(keyId),
      );
      return entry.answer;
    },
    knows: (keyId) => fresh(keyId)?.known !== undefined,
    forget: ({ keyIds = [], subjects = [] }) => {
      keyIds.forEach((keyId) => entries.delete(keyId));
      if (subjects.length === 0) return;
      const changed = new Set(subjects);
      for (const [keyId, { known }] of entries) if (known && changed.has(known.subject)) entries.delete(keyId);
    },
  };
}

function isFresh({ askedAt, known }: Entry, freshMs: number): boolean {
  return performance.now() - askedAt < Math.min(freshMs, known?.expiresInMs ?? freshMs);
}

function dropOldest(entries: Map<string, Entry>): void {
  if (entries.size <= ENTRIES_AT_MOST) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}
