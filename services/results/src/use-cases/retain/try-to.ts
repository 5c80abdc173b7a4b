import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { backoff } from '@vision/shared/async/backoff';
import { inTransaction } from '@vision/shared/db/transaction';

const TRIES = 5;

/**
 * Closing or dropping a partition waits for readers at most a second, because all other statements queue behind it;
 * then it is cancelled and retried.
 */
export async function tryTo(db: Knex, change: (tx: Knex.Transaction) => Promise<void>): Promise<boolean> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    try {
      await inTransaction(db, change);
      return true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (attempt < TRIES) await delay(backoff(attempt, { minMs: 400, maxMs: 3_200, jitter: 'full' }));
    }
  }
  return false;
}

const isLockTimeout = (error: unknown) => error instanceof Error && 'code' in error && error.code === '55P03';
