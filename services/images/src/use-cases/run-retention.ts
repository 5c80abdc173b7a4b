import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { standingOf } from '@vision/objects/bucket-owner';
import { removeExpiredKeys } from '../db/deleted-calls.ts';
import { deleteCalls, findExpired, findStored } from '../db/image-calls.ts';
import { picturesOf } from './sweep-orphan-pictures.ts';
import type { SweepDeps } from './sweep-orphan-pictures.ts';

export interface Removed {
  image_calls: number;
  pictures: number;
}

const BATCH = 100;

/**
 * Removes expired calls in batches: images first, then rows and keys, so that the next run continues an interrupted
 * one. Reads hide calls from their expiry on. A restored database removes nothing: its rows may be older than its
 * objects.
 */
export async function runRetention(deps: SweepDeps, signal?: AbortSignal): Promise<Removed> {
  const removed: Removed = { image_calls: 0, pictures: 0 };
  const { db, store, signals } = deps;
  if ((await standingOf(picturesOf(deps))) === 'restored') return removed;
  while (signal?.aborted !== true) {
    const expired = await findExpired(db, BATCH);
    if (expired.length === 0) break;
    const pictures = await findStored(db, expired);
    await store.remove(pictures);
    crashPoint('images.expired_pictures_removed');
    await inTransaction(db, (tx) => deleteCalls(tx, expired));
    crashPoint('images.expired_calls_removed');
    removed.image_calls += expired.length;
    removed.pictures += pictures.length;
  }
  await removeExpiredKeys(db);
  signals.picturesRemoved(removed.pictures, 'expired');
  return removed;
}
