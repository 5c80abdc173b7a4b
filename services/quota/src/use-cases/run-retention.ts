import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { dropOldCounters, foldOldReservations } from '../db/retention.ts';
import type { Deps } from './deps.ts';

interface Removed {
  reservations: number;
  counters: number;
}

/** Removes expired data in short transactions; may be interrupted and repeated at any point. */
export async function runRetention({
  db,
  signals,
  settings,
}: Pick<Deps, 'db' | 'signals' | 'settings'>): Promise<Removed> {
  const { retentionDays, retentionBatch } = settings;
  let reservations = 0;
  for (;;) {
    const removed = await inTransaction(db, (tx) => foldOldReservations(tx, retentionDays, retentionBatch));
    reservations += removed;
    crashPoint('quota.folded');
    if (removed < retentionBatch) break;
  }
  const removed = { reservations, counters: await dropOldCounters(db, retentionDays) };
  signals.retentionRan(removed);
  return removed;
}
