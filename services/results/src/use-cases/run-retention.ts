import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import {
  closePartition,
  deleteExpiredViews,
  deleteIngestsBelow,
  deleteLateFramesBelow,
  dropPartition,
  partitionDays,
  today,
} from '../db/partitions.ts';
import { hasObjects } from '../db/segment-objects.ts';
import { segmentsOfDay } from '../domain/segments/segment-key.ts';
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
const OBJECTS = 500;

/** Makes the partitions ahead and removes what has expired. Every step may be repeated and cut off at any point. */
export async function runRetention({
  db,
  partitions,
  signals,
  store,
  settings: { retentionDays },
}: Pick<Deps, 'db' | 'partitions' | 'settings' | 'signals' | 'store'>): Promise<Removed> {
  await partitions.prepareAhead();
  const now = await today(db);
  let dropped = 0;
  for (const day of await partitionDays(db, 'frames')) {
    if (!isExpired(day, now, retentionDays)) continue;
    if (await tryTo(db, (tx) => dropPartition(tx, 'frames', day))) dropped += 1;
    else signals.dropBlocked(day);
  }
  const firstKept = firstIdOfDay(addDays(now, -retentionDays));
  await inBatches(() => deleteLateFramesBelow(db, firstKept, BATCH));
  await inBatches(() => deleteIngestsBelow(db, firstKept, BATCH));
  const removed = { partitions: dropped, tasks: await inBatches(() => deleteExpiredViews(db, BATCH)) };
  signals.retentionRan(removed);
  for (const day of await partitionDays(db, 'segments'))
    if (isExpired(day, now, retentionDays)) await removeSegments({ db, store, signals }, day);
  return removed;
}

/**
 * Removes what is in the object store first, then the index: cut short, it is repeated. Reads have hidden the day
 * already. A day without a segment there needs no object store. The index is closed before, so what is on its way
 * meanwhile stays in the list of objects without a segment, and the sweep removes it.
 */
async function removeSegments(
  { db, store, signals }: Pick<Deps, 'db' | 'signals' | 'store'>,
  day: string,
): Promise<void> {
  if (!(await tryTo(db, (tx) => closePartition(tx, 'segments', day)))) {
    signals.dropBlocked(day);
    return;
  }
  if (await hasObjects(db, day)) {
    let keys: string[] = [];
    const removeKeys = async () => {
      await store.remove(keys);
      keys = [];
    };
    for await (const key of store.list(segmentsOfDay(day))) {
      keys.push(key);
      if (keys.length === OBJECTS) await removeKeys();
    }
    await removeKeys();
  }
  crashPoint('results.expired_objects_removed');
  if (!(await tryTo(db, (tx) => dropPartition(tx, 'segments', day)))) signals.dropBlocked(day);
}

/**
 * A partition that is closed or dropped waits for readers at most a second, because everyone else waits behind it; then
 * it gives way and tries again.
 */
async function tryTo(db: Knex, change: (tx: Knex.Transaction) => Promise<void>): Promise<boolean> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    try {
      await inTransaction(db, change);
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
