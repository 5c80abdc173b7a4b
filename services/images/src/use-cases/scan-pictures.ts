import type { ObjectScan, ScanPage } from '@vision/contracts/objects';
import { scanObjects } from '@vision/objects/scan-objects';
import { picturesToScan } from '../db/image-calls.ts';
import type { Deps } from './deps.ts';

/** Image rows without an object in the bucket. */
export const scanPictures =
  ({ db, store }: Pick<Deps, 'db' | 'store'>) =>
  (page: ScanPage): Promise<ObjectScan> =>
    scanObjects(store, (rows) => picturesToScan(db, rows), page);
