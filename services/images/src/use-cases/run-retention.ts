import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { deleteCalls, findExpired } from '../db/image-calls.ts';
import { pictureKeys } from '../domain/picture-key.ts';
import type { Deps } from './deps.ts';

export interface Removed {
  image_calls: number;
  pictures: number;
}

const BATCH = 100;

/**
 * Removes calls that have expired, batch by batch: pictures first, then rows and keys, so that the next run continues
 * one that was cut short. Reads have hidden the calls since they expired.
 */
export async function runRetention(
  { db, store, signals }: Pick<Deps, 'db' | 'store' | 'signals'>,
  signal?: AbortSignal,
): Promise<Removed> {
  const removed: Removed = { image_calls: 0, pictures: 0 };
  while (signal?.aborted !== true) {
    const expired = await findExpired(db, BATCH);
    if (expired.length === 0) break;
    const pictures = expired.flatMap(({ taskId, imagesTotal }) => pictureKeys(taskId, imagesTotal));
    await store.remove(pictures);
    crashPoint('images.expired_pictures_removed');
    const taskIds = expired.map(({ taskId }) => taskId);
    await inTransaction(db, (tx) => deleteCalls(tx, taskIds));
    crashPoint('images.expired_calls_removed');
    removed.image_calls += expired.length;
    removed.pictures += pictures.length;
  }
  signals.picturesRemoved(removed.pictures, 'expired');
  return removed;
}
