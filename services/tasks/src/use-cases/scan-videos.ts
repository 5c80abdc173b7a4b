import type { ObjectScan, ScanPage } from '@vision/shared/contracts/objects';
import { scanObjects } from '@vision/shared/object-store/scan-objects';
import { videosToScan } from '../db/audit.ts';
import type { Deps } from './deps.ts';

/** Tasks whose video is not in the bucket. */
export const scanVideos =
  ({ db, store }: Pick<Deps, 'db' | 'store'>) =>
  (page: ScanPage): Promise<ObjectScan> =>
    scanObjects(store, (rows) => videosToScan(db, rows), page);
