import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { backoff } from '../async/backoff.ts';

export interface TransactionOptions {
  isolationLevel?: Knex.IsolationLevels;
  /** Attempts in all when PostgreSQL asks for a repeat. */
  maxAttempts?: number;
}

/**
 * Runs `fn` in one transaction and returns its result after the commit.
 *
 * Serialization failures and deadlocks (40001, 40P01) are repeated with jitter, so `fn` must have no effect
 * outside the transaction: no network, no mutation of captured state. Nesting is refused: an inner
 * "transaction" would commit nothing.
 */
export async function inTransaction<T>(
  db: Knex,
  fn: (tx: Knex.Transaction) => Promise<T>,
  { isolationLevel, maxAttempts = 5 }: TransactionOptions = {},
): Promise<T> {
  if (db.isTransaction)
    throw new Error('inTransaction was called inside a transaction; pass the transaction on instead');
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction(fn, isolationLevel ? { isolationLevel } : {});
    } catch (error) {
      if (attempt >= maxAttempts || !asksForRepeat(error)) throw error;
      await delay(backoff(attempt, { minMs: 20, maxMs: 500, jitter: 'full' }));
    }
  }
}

function asksForRepeat(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '40001' || error.code === '40P01');
}
