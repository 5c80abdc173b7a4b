import { dayOfTask } from '@vision/contracts/ids';
import type { Standing } from '@vision/objects/bucket-owner';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { findUndeleted, markDeleted, removeRows, removeSegments, removeUndated } from '../../db/deleted-tasks.ts';
import type { TaskOfDay } from '../../db/deleted-tasks.ts';
import type { Deps } from '../deps.ts';
import { standingOfSegments } from './owned-segments.ts';
import { removeImages } from './remove-images.ts';

type DeleteDeps = Pick<Deps, 'db' | 'logger' | 'loops' | 'store'>;

const BATCH = 2_000;
/** Copies removed by one statement; each holds the body of a segment. */
const COPIES = 100;

/**
 * Removes all data of tasks that their owners have deleted. Each task becomes unreadable in one transaction; from then
 * on everything that arrives for it is discarded, however often it is published. Then its rows are removed in steps.
 * Can end at any point and be repeated. Returns the tasks without remaining data.
 */
export async function deleteTasks(deps: DeleteDeps, taskIds: string[]): Promise<string[]> {
  const tasks = taskIds.flatMap((taskId) => {
    const day = dayOfTask(taskId);
    return day === undefined ? [] : [{ day, taskId }];
  });
  const left = new Map((await findUndeleted(deps.db, tasks)).map((task) => [task.taskId, task]));
  const loop = deps.loops.of('deletions');
  // All of them first: the removal of a large task takes long.
  const hidden = new Map<string, TaskOfDay>();
  await loop.forEach(left.keys(), async (taskId) => {
    const task = left.get(taskId);
    await inTransaction(deps.db, (tx) => markDeleted(tx, taskId));
    if (task) hidden.set(taskId, task);
  });
  crashPoint('results.task_hidden');
  let known: Promise<Standing> | undefined;
  const standing = () => (known ??= standingOfSegments(deps));
  await loop.forEach(hidden.keys(), async (taskId) => {
    const task = hidden.get(taskId);
    if (task) await removeAll(deps, task, standing);
  });
  // Another run may process the same rows: remaining data is queried, not inferred.
  const remaining = new Set((await findUndeleted(deps.db, tasks)).map(({ taskId }) => taskId));
  return taskIds.filter((taskId) => !remaining.has(taskId));
}

async function removeAll(deps: DeleteDeps, task: TaskOfDay, standing: () => Promise<Standing>): Promise<void> {
  const { db } = deps;
  // Before the segments: a lost object would be written again from its copy.
  while ((await removeUndated(db, { ...task, table: 'segment_copies' }, COPIES)) === COPIES);
  while ((await removeSegments(db, task, BATCH)) === BATCH);
  crashPoint('results.task_segments_removed');
  for (const table of ['frames', 'tracks', 'timeline_hours'] as const)
    while ((await removeRows(db, { ...task, table }, BATCH)) === BATCH);
  for (const table of ['late_frames', 'source_states', 'alarm_images'] as const)
    while ((await removeUndated(db, { ...task, table }, BATCH)) === BATCH);
  // Last, because the object store may be unavailable.
  await removeImages(deps, task, standing);
}
