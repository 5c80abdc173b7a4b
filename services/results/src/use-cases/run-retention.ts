import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import {
  deleteExpiredViews,
  deleteIngestsBelow,
  deleteLateFramesBelow,
  dropPartition,
  partitionDays,
  today,
} from '../db/partitions.ts';
import { addDays, firstIdOfDay } from '../domain/task-day.ts';
import type { Deps } from './deps.ts';
import { isExpired } from './keep-partitions.ts';

interface Removed {
  /** Days of frames. */
  partitions: number;
  /** Records of tasks. */
  tasks: number;
}

const BATCH = 5_000;
const TRIES = 5;

/** Makes the partitions ahead and removes what has expired. Every step may be repeated and cut off at any point. */
export async function runRetention({
  db,
  partitions,
  signals,
  settings: { retentionDays },
}: Pick<Deps, 'db' | 'partitions' | 'settings' | 'signals'>): Promise<Removed> {
  await partitions.prepareAhead();
  const now = await today(db);
  let dropped = 0;
  for (const day of await partitionDays(db)) {
    if (!isExpired(day, now, retentionDays)) continue;
    if (await tryToDrop(db, day)) dropped += 1;
    else signals.dropBlocked(day);
  }
  const firstKept = firstIdOfDay(addDays(now, -retentionDays));
  await inBatches(() => deleteLateFramesBelow(db, firstKept, BATCH));
  await inBatches(() => deleteIngestsBelow(db, firstKept, BATCH));
  const removed = { partitions: dropped, tasks: await inBatches(() => deleteExpiredViews(db, BATCH)) };
  signals.retentionRan(removed);
  return removed;
}

/**
 * The drop waits for readers at most a second, because everyone else waits behind it; then it gives way
 * and tries again.
 */
async function tryToDrop(db: Knex, day: string): Promise<boolean> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    try {
      await inTransaction(db, (tx) => dropPartition(tx, day));
      return true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (attempt < TRIES) await delay(Math.random() * 200 * 2 ** attempt);
    }
  }
  return false;
}

const isLockTimeout = (error: unknown) => error instanceof Error && 'code' in error && error.code === '55P03';

async function inBatches(remove: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const removed = await remove();
    total += removed;
    if (removed < BATCH) return total;
  }
}
