import { listByStatus } from '../db/tasks.ts';
import type { VisibleTask } from '../domain/task.ts';
import type { Deps } from './deps.ts';

/** Most waiting tasks that one answer lists. */
const LIMIT = 1000;

/** Tasks of all subjects whose submission is unknown, oldest first, for the operator. */
export const listResolvingTasks = ({ db }: Pick<Deps, 'db'>): Promise<VisibleTask[]> =>
  listByStatus(db, 'resolving', LIMIT);
