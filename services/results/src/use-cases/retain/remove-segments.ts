import { crashPoint } from '@vision/shared/crash-point';
import type { Standing } from '@vision/objects/bucket-owner';
import { closePartition, dropPartition } from '../../db/partitions.ts';
import { dropCopiesOfDay } from '../../db/segment-copies.ts';
import { hasObjects, objectsOfDay } from '../../db/segment-objects.ts';
import { unusedImagesOfDay } from '../../db/track-snapshots.ts';
import { SEGMENT_PREFIX, segmentsOfDay } from '../../domain/segments/segment-key.ts';
import type { Deps } from '../deps.ts';
import { standingOfSegments } from './owned-segments.ts';
import { removeListed } from './remove-listed.ts';
import { tryTo } from './try-to.ts';

export type RemovalDeps = Pick<Deps, 'db' | 'logger' | 'ownPrefix' | 'settings' | 'signals' | 'store'>;

const PAGE = 500;

/**
 * Removes expired days with their objects. The database renews its mark in the bucket even when no day has expired. A
 * restored database removes nothing, because a newer copy may still need the objects.
 */
export async function removeSegments(deps: RemovalDeps, days: string[], goesOn: () => Promise<boolean>): Promise<void> {
  const standing = await standingOfSegments(deps);
  for (const day of days) {
    if (!(await goesOn())) return;
    if (standing === 'restored') return;
    await removeDay(deps, { day, standing }, goesOn);
  }
}

/**
 * Removes the objects in the store first, then the index: if interrupted, it is repeated. Reads already hide the day.
 * The index is closed first, so objects that are sent meanwhile stay in the list of objects without a segment, and the
 * sweep removes them.
 */
async function removeDay(
  deps: RemovalDeps,
  { day, standing }: { day: string; standing: Standing },
  goesOn: () => Promise<boolean>,
): Promise<void> {
  const { db, signals } = deps;
  if (!(await tryTo(db, (tx) => closePartition(tx, 'segments', day)))) {
    signals.dropBlocked(day);
    return;
  }
  await dropCopiesOfDay(db, day);
  if (await hasObjects(db, day)) {
    const listed = objectsOf(deps, { day, standing, own: await deps.ownPrefix() });
    if (!(await removeListed(deps.store, listed, goesOn))) return;
  }
  crashPoint('results.expired_objects_removed');
  if (!(await tryTo(db, (tx) => dropPartition(tx, 'segments', day)))) signals.dropBlocked(day);
}

/**
 * The objects of this day that belong to the database: those below its prefix in the bucket, images of tracks, whose
 * rows are already removed, and objects of earlier releases. The latter have no prefix that names a database, so only
 * the single owner of the bucket removes those for which it has no row.
 */
async function* objectsOf(
  { db, store }: Pick<Deps, 'db' | 'store'>,
  { day, standing, own }: { day: string; standing: Standing; own: string },
): AsyncGenerator<string> {
  yield* store.list(segmentsOfDay(own, day));
  if (standing === 'owner') {
    yield* store.list(segmentsOfDay(SEGMENT_PREFIX, day));
    yield* inPages((page) => unusedImagesOfDay(db, day, page));
  } else yield* inPages((page) => objectsOfDay(db, day, page));
}

async function* inPages(find: (page: { after: string; limit: number }) => Promise<string[]>): AsyncGenerator<string> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const found: string[] = await find({ after, limit: PAGE });
    yield* found;
    after = found.at(-1);
  }
}
