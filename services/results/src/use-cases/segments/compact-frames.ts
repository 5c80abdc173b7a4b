import { dayOfTask } from '@vision/contracts/ids';
import { inTransaction } from '@vision/shared/db/transaction';
import { claimDue, dueLag } from '../../db/claim-due.ts';
import { makeDue, nextTasksWithRows, setCompaction } from '../../db/compaction.ts';
import { findIngest, lockIngests } from '../../db/ingests.ts';
import { partitionDays } from '../../db/partitions.ts';
import { hasHotFrames } from '../../db/hot-frames.ts';
import { compactTask } from './compact-task.ts';
import type { Deps } from '../deps.ts';

type CompactDeps = Pick<Deps, 'db' | 'loops' | 'ownPrefix' | 'settings' | 'signals' | 'store'>;

/**
 * Tasks that are moved concurrently: one that waits for the object store blocks no other. Each takes some megabytes.
 */
const TASKS = 4;
/** Longer than the segments of a round take; after it other processes claim the tasks of a dead one. */
const LEASE_MS = 300_000;
/** Segments of one task in a round, so that a task with months of frames does not delay others. */
const SEGMENTS = 20;

/** Moves the hot frames of tasks that are due to the object store. Returns how many tasks it worked on. */
export async function compactFrames(deps: CompactDeps, signal: AbortSignal): Promise<number> {
  deps.signals.compactionLag(await dueLag(deps.db, 'compact_at'));
  const taskIds = await claimDue(deps.db, 'compact_at', { limit: TASKS, leaseMs: LEASE_MS });
  // A task that fails is due again when its lease has expired.
  await deps.loops.of('compaction').atOnce(taskIds, async (taskId) => {
    try {
      await compactDue(deps, taskId, signal);
      deps.signals.compactionTried(false);
    } catch (error) {
      deps.signals.compactionTried(true);
      throw error;
    }
  });
  return taskIds.length;
}

async function compactDue(deps: CompactDeps, taskId: string, signal: AbortSignal): Promise<void> {
  const { db, settings } = deps;
  const day = dayOfTask(taskId);
  if (day === undefined) throw new Error(`${taskId} is no id of this system`);
  const ingest = await findIngest(db, taskId);
  const task = { day, taskId, hasEnded: ingest?.end_status != null };
  let moved = 0;
  for (let segments = 0; segments < SEGMENTS && !signal.aborted; segments += 1) {
    moved = await compactTask(deps, task);
    if (moved === 0) break;
  }
  await inTransaction(db, async (tx) => {
    // Writers hold the same lock, so none adds hot frames between the query and the update.
    await lockIngests(tx, [taskId]);
    const isDone = !(await hasHotFrames(tx, day, taskId));
    await setCompaction(tx, taskId, isDone ? undefined : moved > 0 ? 0 : Math.max(settings.hotMs, MIN_PAUSE_MS));
  });
}

/** Minimum interval between two checks of a task without movable frames. */
const MIN_PAUSE_MS = 1_000;

/**
 * Finds tasks whose frames are rows and makes them due, some of each day in a round. Returns 0: the next query is not
 * urgent.
 */
export function createRowFinder({ db }: Pick<Deps, 'db'>): (signal: AbortSignal) => Promise<number> {
  /** The last task found of each day that has more. */
  let places = new Map<string, string>();
  return async (signal) => {
    const days = await partitionDays(db, 'frames');
    // All days are queried at once: usually none has rows.
    let seen = days.map((day) => ({ day, taskId: places.get(day) ?? NO_TASK }));
    for (let found = 0; found < TASKS_A_DAY && seen.length > 0 && !signal.aborted; found += 1) {
      seen = await nextTasksWithRows(db, seen);
      if (seen.length > 0)
        await makeDue(
          db,
          seen.map(({ taskId }) => taskId),
        );
    }
    places = new Map(seen.map(({ day, taskId }) => [day, taskId]));
    return 0;
  };
}

const NO_TASK = '00000000-0000-0000-0000-000000000000';
const TASKS_A_DAY = 50;
