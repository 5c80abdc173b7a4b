import { withTask } from '../../db/audit.ts';
import type { Deps } from '../deps.ts';

/** Those of the given ids that are tasks. */
export const findKnownTasks = ({ db }: Pick<Deps, 'db'>, taskIds: string[]): Promise<string[]> => withTask(db, taskIds);
