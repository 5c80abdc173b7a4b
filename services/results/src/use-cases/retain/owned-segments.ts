import { createOwnPrefix } from '@vision/objects/own-prefix';
import { decide, standingOf } from '@vision/objects/bucket-owner';
import type { Decision, Standing } from '@vision/objects/bucket-owner';
import { findUnknownObjects } from '../../db/segment-objects.ts';
import { SEGMENT_PREFIX, placeOfKey } from '../../domain/segments/segment-key.ts';
import type { Deps } from '../deps.ts';

/** Name of segments among the objects of the bucket. */
export const SEGMENTS = 'segments';

/** Relation of the database to the segments in the bucket. */
export async function standingOfSegments({
  db,
  logger,
  store,
}: Pick<Deps, 'db' | 'logger' | 'store'>): Promise<Standing> {
  const findUnused = async (keys: string[]) => {
    const unknown = new Set(await findUnknownObjects(db, keys.flatMap(placeOfKey)));
    return keys.filter((key) => placeOfKey(key).length === 0 || unknown.has(key));
  };
  return standingOf({ db, logger, store: store.bucket, name: SEGMENTS, prefix: SEGMENT_PREFIX, findUnused });
}

/** Returns the key prefix of new objects, which is read once. */
export const ownSegmentPrefix = ({ db }: Pick<Deps, 'db'>) =>
  createOwnPrefix({ db, name: SEGMENTS, prefix: SEGMENT_PREFIX });

/** Records an operator's decision about this database and the bucket. */
export const decideAboutSegments = ({ db }: Pick<Deps, 'db'>, decision: Decision): Promise<void> =>
  decide(db, SEGMENTS, decision);
