import { firstIdAt } from '@vision/contracts/ids';
import { databaseNow } from '@vision/shared/db/clock';
import { listAnyTasks } from '../../db/list-any-tasks.ts';
import type { AnyTasksPage } from '../../db/list-any-tasks.ts';
import type { VisibleTask } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

export interface TasksOfAllInput extends Omit<AnyTasksPage, 'createdBefore' | 'createdFrom'> {
  olderThanS?: number | undefined;
  youngerThanS?: number | undefined;
}

/** A page of the tasks of all subjects, for operators; `nextCursor` is empty on the last one. */
export async function listTasksOfAll(
  { db }: Pick<Deps, 'db'>,
  { olderThanS, youngerThanS, ...page }: TasksOfAllInput,
): Promise<{ tasks: VisibleTask[]; nextCursor: string }> {
  const now = (await databaseNow(db)).getTime();
  const idAgo = (seconds: number | undefined) =>
    seconds === undefined ? undefined : firstIdAt(new Date(Math.max(0, now - seconds * 1000)));
  const found = await listAnyTasks(db, {
    ...page,
    limit: page.limit + 1,
    createdBefore: idAgo(olderThanS),
    createdFrom: idAgo(youngerThanS),
  });
  const tasks = found.slice(0, page.limit);
  return { tasks, nextCursor: found.length > page.limit ? (tasks.at(-1)?.taskId ?? '') : '' };
}
