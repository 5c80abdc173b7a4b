import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import type { Logger } from '@vision/shared/logger';
import { noteUse } from '../db/api-keys.ts';
import type { KeyRecord } from '../db/api-keys.ts';
import { digestKey } from '../domain/api-key.ts';
import type { Peppers } from '../domain/peppers.ts';

export interface KeyUse {
  /** Records that a key was accepted; returns at once. */
  note: (keyId: string, key: string, record: KeyRecord) => void;
}

export interface KeyUseOptions {
  db: Knex;
  peppers: Peppers;
  logger: Logger;
}

const INTERVAL_MS = 60_000;
const MAX_KEYS = 20_000;

/** Records the last use of each key beside the request, at most once a minute. */
export function createKeyUse({ db, peppers, logger }: KeyUseOptions): KeyUse {
  const noted = new LRUCache<string, true>({ max: MAX_KEYS, ttl: INTERVAL_MS });
  return {
    note: (keyId, key, { pepperVersion }) => {
      if (noted.has(keyId)) return;
      noted.set(keyId, true);
      const renewed = pepperVersion === peppers.current ? undefined : digestKey(key, peppers);
      noteUse(db, keyId, renewed).catch((error: unknown) => {
        logger.warn({ err: error, key_id: keyId }, 'the use of a key was not noted');
      });
    },
  };
}
