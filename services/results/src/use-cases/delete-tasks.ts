import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { findUndeleted, markDeleted, removeRows, removeSegments } from '../db/deleted-tasks.ts';
import type { TaskOfDay } from '../db/deleted-tasks.ts';
import { dayOfTask } from '../domain/task-day.ts';
import type { Deps } from './deps.ts';

const BATCH = 2_000;

/**
 * Removes everything of tasks that their owners have deleted. Each becomes unreadable in one transaction, and from then
 * on everything that arrives of it is refused, however often it is published; then its rows are removed in steps. Can
 * end at any point and be repeated. Returns the tasks of which nothing is left.
 */
export async function deleteTasks(deps: Pick<Deps, 'db' | 'loops'>, taskIds: string[]): Promise<string[]> {
  const tasks = taskIds.flatMap((taskId) => {
    const day = dayOfTask(taskId);
    return day === undefined ? [] : [{ day, taskId }];
  });
  const left = new Map((await findUndeleted(deps.db, tasks)).map((task) => [task.taskId, task]));
  const deleted = new Set(taskIds.filter((taskId) => !left.has(taskId)));
  await deps.loops.of('deletions').forEach(left.keys(), async (taskId) => {
    const task = left.get(taskId);
    if (task) await deleteTask(deps, task);
    deleted.add(taskId);
  });
  return [...deleted];
}

async function deleteTask({ db }: Pick<Deps, 'db'>, task: TaskOfDay): Promise<void> {
  await inTransaction(db, (tx) => markDeleted(tx, task.taskId));
  crashPoint('results.task_hidden');
  while ((await removeSegments(db, task, BATCH)) === BATCH);
  crashPoint('results.task_segments_removed');
  for (const table of ['frames', 'tracks', 'timeline_hours'] as const)
    while ((await removeRows(db, { ...task, table }, BATCH)) === BATCH);
}
