import type { Knex } from 'knex';
import type { Logger } from '@vision/shared/logger';
import { noteUse } from '../db/api-keys.ts';
import type { KeyRecord } from '../db/api-keys.ts';
import { digestKey } from '../domain/api-key.ts';
import type { Peppers } from '../domain/peppers.ts';

export interface KeyUse {
  /** Notes that a key was accepted; returns at once. */
  note: (keyId: string, key: string, record: KeyRecord) => void;
}

export interface KeyUseOptions {
  db: Knex;
  peppers: Peppers;
  logger: Logger;
}

const INTERVAL_MS = 60_000;
const REMEMBERED_AT_MOST = 20_000;

/** Notes beside the request, at most once a minute for each key, when it was used last. */
export function createKeyUse({ db, peppers, logger }: KeyUseOptions): KeyUse {
  const notedAt = new Map<string, number>();
  return {
    note: (keyId, key, { pepperVersion }) => {
      const now = performance.now();
      if (now - (notedAt.get(keyId) ?? -INTERVAL_MS) < INTERVAL_MS) return;
      if (notedAt.size >= REMEMBERED_AT_MOST) notedAt.clear();
      notedAt.set(keyId, now);
      const renewed = pepperVersion === peppers.current ? undefined : digestKey(key, peppers);
      noteUse(db, keyId, renewed).catch((error: unknown) => {
        logger.warn({ err: error, key_id: keyId }, 'the use of a key was not noted');
      });
    },
  };
}
