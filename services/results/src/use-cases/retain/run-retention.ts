import { forgetAwaiting } from '../../db/alarm-images.ts';
import { deleteDeletedRules } from '../../db/alarm-rules.ts';
import { deleteFoldsBelow } from '../../db/folds.ts';
import {
  deleteExpiredViews,
  deleteIngestsBelow,
  deleteLateFramesBelow,
  dropPartition,
  partitionDays,
  today,
} from '../../db/partitions.ts';
import { deleteSourcesBelow } from '../../db/sources.ts';
import { expireSnapshots, removeSnapshotsBelow } from '../../db/track-snapshots.ts';
import { addDays, firstIdOfDay } from '../../domain/task-day.ts';
import type { Deps } from '../deps.ts';
import { isExpired } from './keep-partitions.ts';
import { removeSegments } from './remove-segments.ts';
import type { RemovalDeps } from './remove-segments.ts';
import { tryTo } from './try-to.ts';

interface Removed {
  /** Days of frames. */
  partitions: number;
  /** Records of tasks. */
  tasks: number;
}

const BATCH = 5_000;
/** An older version of a deleted rule can arrive as long as dead letters are retained. */
const DELETED_RULE_DAYS = 60;

/**
 * Creates the partitions ahead and removes expired data. Every step may be repeated and interrupted at any point.
 * Between two steps in the object store `goesOn` decides whether to continue. A restored database retains its objects.
 */
export async function runRetention(
  deps: RemovalDeps & Pick<Deps, 'partitions' | 'settings'>,
  goesOn: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<Removed> {
  const { db, partitions, signals, settings } = deps;
  const { retentionDays } = settings;
  await partitions.prepareAhead();
  const now = await today(db);
  let dropped = 0;
  for (const table of ['tracks', 'timeline_hours', 'frames'] as const)
    for (const day of await partitionDays(db, table)) {
      if (!isExpired(day, now, retentionDays)) continue;
      if (!(await tryTo(db, (tx) => dropPartition(tx, table, day)))) signals.dropBlocked(day);
      else if (table === 'frames') dropped += 1;
    }
  const firstKept = firstIdOfDay(addDays(now, -retentionDays));
  await inBatches(() => deleteLateFramesBelow(db, firstKept, BATCH));
  await inBatches(() => deleteFoldsBelow(db, firstKept, BATCH));
  await inBatches(() => deleteIngestsBelow(db, firstKept, BATCH));
  await inBatches(() => deleteSourcesBelow(db, firstKept, BATCH));
  await inBatches(() => deleteDeletedRules(db, { days: DELETED_RULE_DAYS, batch: BATCH }));
  await inBatches(() => forgetAwaiting(db, BATCH));
  await inBatches(() => removeSnapshotsBelow(db, firstKept, BATCH));
  await inBatches(() => expireSnapshots(db, settings.snapshotDays, BATCH));
  const removed = { partitions: dropped, tasks: await inBatches(() => deleteExpiredViews(db, BATCH)) };
  signals.retentionRan(removed);
  const days = await partitionDays(db, 'segments');
  await removeSegments(
    deps,
    days.filter((day) => isExpired(day, now, retentionDays)),
    goesOn,
  );
  return removed;
}

async function inBatches(remove: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const removed = await remove();
    total += removed;
    if (removed < BATCH) return total;
  }
}
