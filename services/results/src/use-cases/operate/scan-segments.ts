import type { ObjectScan, ScanPage } from '@vision/contracts/objects';
import { scanObjects } from '@vision/objects/scan-objects';
import { segmentsToScan } from '../../db/segment-objects.ts';
import type { Deps } from '../deps.ts';

/** Segments whose object is not in the bucket. */
export const scanSegments =
  ({ db, store }: Pick<Deps, 'db' | 'store'>) =>
  (page: ScanPage): Promise<ObjectScan> =>
    scanObjects(store.bucket, (rows) => segmentsToScan(db, rows), page);
