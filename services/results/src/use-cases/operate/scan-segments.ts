import type { ObjectScan, ScanPage } from '@vision/contracts/objects';
import { fail } from '@vision/contracts/errors';
import { scanObjects } from '@vision/objects/scan-objects';
import { segmentsToScan } from '../../db/segment-objects.ts';
import type { Deps } from '../deps.ts';

/** Segments whose object is not in the bucket. */
export const scanSegments =
  ({ db, store }: Pick<Deps, 'db' | 'store'>) =>
  async (page: ScanPage): Promise<ObjectScan> => {
    const { bucket } = store;
    if (!bucket) throw fail.sysUnavailable('object_store_unavailable', new Error('S3_ENDPOINT is not set'));
    return scanObjects(bucket, (rows) => segmentsToScan(db, rows), page);
  };
