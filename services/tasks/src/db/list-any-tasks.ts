import type { Knex } from 'knex';
import { hiddenStatuses } from '../domain/task.ts';
import type { Status, VideoKind, VisibleTask } from '../domain/task.ts';
import { TASKS, toVisibleTask } from './task-row.ts';
import type { ImageTaskRow, TaskRow } from './task-row.ts';

export interface AnyTasksPage {
  /** Only tasks in these states; all public states when absent. */
  statuses?: readonly Status[] | undefined;
  subject?: string | undefined;
  kind?: VideoKind | 'image' | undefined;
  /** Bounds of the creation time as ids: a task id begins with its time. */
  createdBefore?: string | undefined;
  createdFrom?: string | undefined;
  order: 'oldest' | 'newest';
  /** Last id of the previous page. */
  after?: string | undefined;
  limit: number;
}

/** Tasks and image calls of all subjects by creation time, which is the order of their ids. */
export async function listAnyTasks(db: Knex, page: AnyTasksPage): Promise<VisibleTask[]> {
  const { statuses, subject, kind, createdBefore, createdFrom, order, after, limit } = page;
  const query = db<TaskRow | ImageTaskRow>(TASKS)
    .orderBy('task_id', order === 'oldest' ? 'asc' : 'desc')
    .limit(limit);
  void (statuses ? query.whereIn('status', [...statuses]) : query.whereNotIn('status', hiddenStatuses));
  if (subject !== undefined) void query.where({ subject });
  if (kind !== undefined) void query.whereIn('kind', [kind]);
  if (createdBefore !== undefined) void query.where('task_id', '<', createdBefore);
  if (createdFrom !== undefined) void query.where('task_id', '>=', createdFrom);
  if (after !== undefined) void query.where('task_id', order === 'oldest' ? '>' : '<', after);
  return (await query).flatMap((row) => toVisibleTask(row) ?? []);
}
