import type { Knex } from 'knex';
import type { Logger } from '@vision/shared/logger';
import { noteUse } from '../db/api-keys.ts';
import type { KeyRecord } from '../db/api-keys.ts';
import { digestKey } from '../domain/api-key.ts';
import type { Peppers } from '../domain/peppers.ts';

export interface NoteUseDeps {
  db: Knex;
  peppers: Peppers;
  logger: Logger;
  /** Reads the clock, in milliseconds. */
  now?: () => number;
}

const INTERVAL_MS = 60_000;
const REMEMBERED_AT_MOST = 20_000;

/** Notes beside the request, at most once a minute for each key, when it was used last. */
export function createUseNotes({ db, peppers, logger, now = Date.now }: NoteUseDeps) {
  const noted = new Map<string, number>();
  return (keyId: string, key: string, { pepperVersion }: KeyRecord): void => {
    if (now() - (noted.get(keyId) ?? -INTERVAL_MS) < INTERVAL_MS) return;
    if (noted.size >= REMEMBERED_AT_MOST) noted.clear();
    noted.set(keyId, now());
    const renewed = pepperVersion === peppers.current ? undefined : digestKey(key, peppers);
    noteUse(db, keyId, renewed).catch((error: unknown) => {
      logger.warn({ err: error, key_id: keyId }, 'the use of a key was not noted');
    });
  };
}
