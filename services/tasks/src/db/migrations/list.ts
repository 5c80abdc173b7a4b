import { auditMigration } from '@vision/shared/audit/differences';
import { clockMigration } from '@vision/shared/db/clock';
import { leaseWatchMigration } from '@vision/creation/lease-watch';
import type { Migration } from '@vision/shared/db/migrate';
import { bucketOwnerMigration } from '@vision/objects/bucket-owner';
import { sweepMarksMigration } from '@vision/creation/sweep-marks';
import { outboxMigration } from '@vision/kafka/outbox';
import { outboxKeyMigration } from '@vision/kafka/outbox-history';
import { positionEpochsMigration, positionsMigration } from '@vision/kafka/positions';
import { idempotencyKeys, taskMoves, tasks } from './0001-tasks.ts';
import { attemptsOfJobs } from './0004-attempts-of-jobs.ts';
import { submissionsByTime } from './0005-audit.ts';
import { tasksByStatus } from './0006-tasks-by-status.ts';
import { placeClaims } from './0007-place-claims.ts';
import { sentPlaces } from './0008-sent-places.ts';
import { clientRefs, tasksByClientRef } from './0009-client-ref.ts';
import { snapshots } from './0011-snapshots.ts';
import { deletedTasks } from './0012-deleted-tasks.ts';
import { giveUpAfter } from './0013-give-up-after.ts';

export const migrations: Migration[] = [
  tasks,
  taskMoves,
  idempotencyKeys,
  outboxMigration,
  clockMigration,
  positionsMigration,
  attemptsOfJobs,
  auditMigration,
  submissionsByTime,
  leaseWatchMigration,
  outboxKeyMigration,
  tasksByStatus,
  placeClaims,
  sentPlaces,
  bucketOwnerMigration,
  sweepMarksMigration,
  positionEpochsMigration,
  clientRefs,
  tasksByClientRef,
  snapshots,
  deletedTasks,
  giveUpAfter,
];
