import { abandonedObjects, forgetObjects } from '../../db/segment-objects.ts';
import type { Deps } from '../deps.ts';
import { standingOfSegments } from './owned-segments.ts';

const BATCH = 500;

/**
 * Removes objects that were sent and became part of no segment: their process died, or a newer attempt took over
 * frames. They are listed, so the store is not searched. A restored database removes nothing: a newer copy may have
 * segments of these objects. Returns their number.
 */
export async function sweepSegmentObjects(
  deps: Pick<Deps, 'db' | 'logger' | 'settings' | 'signals' | 'store'>,
): Promise<number> {
  const { db, store, signals, settings } = deps;
  const keys = await abandonedObjects(db, { limit: BATCH, graceMs: settings.sweepGraceMs });
  if (keys.length === 0 || (await standingOfSegments(deps)) === 'restored') return 0;
  await store.remove(keys);
  await forgetObjects(db, keys);
  signals.orphansRemoved(keys.length);
  return keys.length;
}
