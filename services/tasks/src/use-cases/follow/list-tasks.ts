import { listVisibleTasks } from '../../db/tasks.ts';
import type { HistoryPage } from '../../db/tasks.ts';
import { historyCursor, readHistoryCursor } from '../../domain/history-cursor.ts';
import type { VisibleTask } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

export interface ListInput extends Omit<HistoryPage, 'afterTaskId'> {
  cursor: string | undefined;
}

/** One page of the history; `nextCursor` is empty on the last one. */
export async function listTasks(
  { db, cursorBox }: Pick<Deps, 'db' | 'cursorBox'>,
  { cursor, ...page }: ListInput,
): Promise<{ tasks: VisibleTask[]; nextCursor: string }> {
  const afterTaskId = cursor ? readHistoryCursor(cursorBox, page, cursor) : undefined;
  const found = await listVisibleTasks(db, { ...page, limit: page.limit + 1, afterTaskId });
  const tasks = found.slice(0, page.limit);
  const last = tasks.at(-1);
  return {
    tasks,
    nextCursor: last && found.length > page.limit ? historyCursor(cursorBox, page, last.taskId) : '',
  };
}
