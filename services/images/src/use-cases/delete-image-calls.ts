import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { standingOf } from '@vision/objects/bucket-owner';
import { hideCalls, removeHidden } from '../db/deleted-calls.ts';
import { findStored } from '../db/image-calls.ts';
import { picturesOf } from './sweep-orphan-pictures.ts';
import type { SweepDeps } from './sweep-orphan-pictures.ts';

/**
 * Removes calls that their owners have deleted: hides them, then removes their images, then the rows. Can be
 * interrupted at any point and repeated. In a restored database, calls are only hidden until an operator has decided
 * about the bucket. Returns the calls that are completely removed.
 */
export async function deleteImageCalls(deps: SweepDeps, taskIds: string[]): Promise<string[]> {
  const { db, store, signals } = deps;
  await inTransaction(db, (tx) => hideCalls(tx, taskIds));
  crashPoint('images.call_hidden');
  const pictures = await findStored(db, taskIds);
  if (pictures.length > 0) {
    if ((await standingOf(picturesOf(deps))) === 'restored') return [];
    await store.remove(pictures);
    crashPoint('images.deleted_pictures_removed');
  }
  await removeHidden(db, taskIds);
  signals.picturesRemoved(pictures.length, 'deleted');
  return taskIds;
}
