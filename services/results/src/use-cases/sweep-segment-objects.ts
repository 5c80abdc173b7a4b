import { abandonedObjects, forgetObjects } from '../db/segment-objects.ts';
import type { Deps } from './deps.ts';

const BATCH = 500;

/**
 * Removes objects that were sent and became no part of a segment: their process died, or a newer attempt took frames
 * over. They stand in a list, so nothing is searched in the store. Returns how many.
 */
export async function sweepSegmentObjects({
  db,
  store,
  signals,
}: Pick<Deps, 'db' | 'signals' | 'store'>): Promise<number> {
  const keys = await abandonedObjects(db, BATCH);
  if (keys.length === 0) return 0;
  await store.remove(keys);
  await forgetObjects(db, keys);
  signals.orphansRemoved(keys.length);
  return keys.length;
}
