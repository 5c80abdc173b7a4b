import type { Knex } from 'knex';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { dropOldCounters, foldOldReservations } from '../db/retention.ts';

export interface RetentionDeps {
  db: Knex;
  days: number;
  batch: number;
}

export interface Removed {
  reservations: number;
  counters: number;
}

/** Removes what is older than the retention, in short transactions; may be cut off and repeated at any point. */
export async function runRetention({ db, days, batch }: RetentionDeps): Promise<Removed> {
  let reservations = 0;
  for (;;) {
    const removed = await inTransaction(db, (tx) => foldOldReservations(tx, days, batch));
    reservations += removed;
    crashPoint('quota.folded');
    if (removed < batch) break;
  }
  return { reservations, counters: await dropOldCounters(db, days) };
}
