import type { Knex } from 'knex';
import type { ObjectScan, ScanPage } from '@vision/contracts/objects';
import { TRACK_SNAPSHOT_PREFIX } from '@vision/contracts/track-snapshots';
import { scanObjects } from '@vision/objects/scan-objects';
import type { ScannedRow } from '@vision/objects/scan-objects';
import { segmentsToScan } from '../../db/segment-objects.ts';
import { snapshotsToScan } from '../../db/track-snapshots.ts';
import type { Deps } from '../deps.ts';

/** Segments and track snapshots whose object is not in the bucket. */
export const scanSegments =
  ({ db, store }: Pick<Deps, 'db' | 'store'>) =>
  (page: ScanPage): Promise<ObjectScan> =>
    scanObjects(store.bucket, (rows) => rowsToScan(db, rows), page);

/** All segments first, then all track snapshots; cursors of the latter have a prefix. */
async function rowsToScan(db: Knex, { after, limit }: ScanPage): Promise<ScannedRow[]> {
  const isAmongSnapshots = after.startsWith(TRACK_SNAPSHOT_PREFIX);
  const segments = isAmongSnapshots ? [] : await segmentsToScan(db, { after, limit });
  if (segments.length === limit) return segments;
  const snapshots = await snapshotsToScan(db, {
    after: isAmongSnapshots ? after.slice(TRACK_SNAPSHOT_PREFIX.length) : '',
    limit: limit - segments.length,
  });
  return segments.concat(
    snapshots.map(({ taskId, objectKey, cursor }) => ({
      taskId,
      objectKey,
      cursor: `${TRACK_SNAPSHOT_PREFIX}${cursor}`,
    })),
  );
}
