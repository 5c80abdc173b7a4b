import type { Knex } from 'knex';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import type { ObjectStore } from '@vision/shared/object-store/object-store';
import type { Clock } from '../db/idempotency-keys.ts';
import { deleteCalls, findExpired } from '../db/image-calls.ts';
import { pictureKey } from '../domain/picture-key.ts';
import type { Signals } from '../signals.ts';

export interface RetentionDeps {
  db: Knex;
  clock: Clock;
  store: Pick<ObjectStore, 'remove'>;
  signals: Signals;
}

export interface Removed {
  image_calls: number;
  pictures: number;
}

const BATCH = 100;

/**
 * Removes calls that have expired, batch by batch: pictures first, then rows and keys. A run that is cut short is picked up
 * by the next one, because a row is only gone when its pictures are. Reads have hidden them since they expired.
 */
export async function runRetention(deps: RetentionDeps, signal?: AbortSignal): Promise<Removed> {
  const removed: Removed = { image_calls: 0, pictures: 0 };
  while (signal?.aborted !== true) {
    const expired = await findExpired(deps.db, deps.clock, BATCH);
    if (expired.length === 0) break;
    const pictures = expired.flatMap(({ task_id, images_total }) =>
      Array.from({ length: images_total }, (_, seq) => pictureKey(task_id, seq)),
    );
    await deps.store.remove(pictures);
    crashPoint('images.expired_pictures_removed');
    await inTransaction(deps.db, (tx) =>
      deleteCalls(
        tx,
        expired.map(({ task_id }) => task_id),
      ),
    );
    crashPoint('images.expired_calls_removed');
    removed.image_calls += expired.length;
    removed.pictures += pictures.length;
  }
  deps.signals.picturesRemoved(removed.pictures, 'expired');
  return removed;
}
