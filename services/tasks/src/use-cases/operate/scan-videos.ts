import type { ObjectScan, ScanPage } from '@vision/contracts/objects';
import { scanObjects } from '@vision/objects/scan-objects';
import { videosToScan } from '../../db/audit.ts';
import type { Deps } from '../deps.ts';

/** Tasks whose video is not in the bucket. */
export const scanVideos =
  ({ db, store }: Pick<Deps, 'db' | 'store'>) =>
  (page: ScanPage): Promise<ObjectScan> =>
    scanObjects(store, (rows) => videosToScan(db, rows), page);
