import { auditMigration } from '@vision/shared/audit/differences';
import type { Migration } from '@vision/shared/db/migrate';
import { bucketOwnerMigration } from '@vision/objects/bucket-owner';
import { jobs, workers } from './0001-jobs.ts';
import { endings } from './0003-endings.ts';
import { calibration } from './0005-calibration.ts';
import { framesPartition } from './0006-frames-partition.ts';
import { livePlaces } from './0007-live-places.ts';
import { behindSince } from './0008-behind-since.ts';
import { shortages } from './0009-shortages.ts';
import { suspects } from './0010-suspects.ts';
import { claims } from './0011-claims.ts';
import { snapshots } from './0012-snapshots.ts';
import { away } from './0013-away.ts';
import { model } from './0014-model.ts';

export const migrations: Migration[] = [
  jobs,
  workers,
  endings,
  auditMigration,
  calibration,
  framesPartition,
  livePlaces,
  behindSince,
  shortages,
  suspects,
  claims,
  snapshots,
  away,
  bucketOwnerMigration,
  model,
];
