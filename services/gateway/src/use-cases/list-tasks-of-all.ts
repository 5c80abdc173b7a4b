import { listInternalTasks } from '@vision/contracts/tasks';
import type { InternalTask, TaskFilter } from '@vision/contracts/tasks';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

/** A page of the tasks of all subjects. */
export async function listTasksOfAll(
  { owners }: Pick<Deps, 'owners'>,
  filter: TaskFilter,
  signal: AbortSignal,
): Promise<{ items: InternalTask[]; next_cursor: string }> {
  return owners.tasks.ask(listInternalTasks, { subject: OPERATOR, query: filter, signal });
}
