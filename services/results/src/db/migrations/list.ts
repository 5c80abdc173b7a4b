import { sweepMarksMigration } from '@vision/creation/sweep-marks';
import { auditMigration } from '@vision/shared/audit/differences';
import { clockMigration } from '@vision/shared/db/clock';
import type { Migration } from '@vision/shared/db/migrate';
import { outboxMigration } from '@vision/kafka/outbox';
import { outboxKeyMigration } from '@vision/kafka/outbox-history';
import { positionEpochsMigration, positionsMigration } from '@vision/kafka/positions';
import { bucketOwnerMigration } from '@vision/objects/bucket-owner';
import { resultTables } from './0001-result-tables.ts';
import { ends } from './0002-ends.ts';
import { viewChanges, viewChangesIndex } from './0003-audit.ts';
import { framesPublished } from './0005-frames-published.ts';
import { endFrames } from './0006-end-frames.ts';
import { lateFramesTable } from './0007-late-frames.ts';
import { askAboutTasks, askAboutTasksIndex } from './0007-ask-about-tasks.ts';
import { segments, segmentsIndex } from './0009-segments.ts';
import { frameForm } from './0011-frame-form.ts';
import { segmentCopies } from './0012-segment-copies.ts';
import { unmatchedFrames } from './0013-unmatched-frames.ts';
import { sources } from './0014-sources.ts';
import { segmentTimes } from './0015-segment-times.ts';
import { folds, foldsIndex } from './0016-folds.ts';
import { deletedTasks } from './0017-deleted-tasks.ts';
import { alarmRules, viewsOfSubject } from './0018-alarm-rules.ts';
import { copiesOfTask } from './0019-copies-of-task.ts';
import { trackSnapshots } from './0020-track-snapshots.ts';
import { imagesOfTask } from './0021-images-of-task.ts';
import { alarmImages } from './0022-alarm-images.ts';
import { noMoreRows } from './0023-no-more-rows.ts';

export const migrations: Migration[] = [
  outboxMigration,
  clockMigration,
  resultTables,
  positionsMigration,
  ends,
  auditMigration,
  viewChanges,
  viewChangesIndex,
  framesPublished,
  endFrames,
  lateFramesTable,
  askAboutTasks,
  askAboutTasksIndex,
  outboxKeyMigration,
  segments,
  segmentsIndex,
  frameForm,
  segmentCopies,
  unmatchedFrames,
  bucketOwnerMigration,
  positionEpochsMigration,
  sources,
  segmentTimes,
  folds,
  foldsIndex,
  deletedTasks,
  alarmRules,
  viewsOfSubject,
  copiesOfTask,
  trackSnapshots,
  sweepMarksMigration,
  imagesOfTask,
  alarmImages,
  noMoreRows,
];
