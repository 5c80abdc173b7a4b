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
 * Removes expired days with their objects. The database tells the bucket that it lives even when no day has expired.
 * One that is restored removes nothing, because a newer copy may have what it would leave behind.
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
 * Removes what is in the object store first, then the index: cut short, it is repeated. Reads have hidden the day
 * already. The index is closed before, so what is on its way meanwhile stays in the list of objects without a segment,
 * and the sweep removes it.
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
 * What the database has of this day: what the bucket lists below its prefix, images of tracks, whose rows have gone
 * before, and objects of earlier releases. Those
 * have no prefix that names a database, so only the single owner of the bucket removes what it has no row for.
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
