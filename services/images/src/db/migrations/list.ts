import { auditMigration } from '@vision/shared/audit/differences';
import { clockMigration } from '@vision/shared/db/clock';
import { leaseWatchMigration } from '@vision/creation/lease-watch';
import type { Migration } from '@vision/shared/db/migrate';
import { bucketOwnerMigration } from '@vision/objects/bucket-owner';
import { sweepMarksMigration } from '@vision/creation/sweep-marks';
import { outboxMigration } from '@vision/kafka/outbox';
import { outboxKeyMigration } from '@vision/kafka/outbox-history';
import { imageCalls } from './0001-image-calls.ts';
import { clientRefs } from './0002-client-ref.ts';
import { deletedCalls } from './0003-deleted-calls.ts';

export const migrations: Migration[] = [
  imageCalls,
  outboxMigration,
  clockMigration,
  auditMigration,
  leaseWatchMigration,
  outboxKeyMigration,
  bucketOwnerMigration,
  sweepMarksMigration,
  clientRefs,
  deletedCalls,
];
