import { countStored, countStoredOf } from '../db/ingests.ts';
import type { Deps } from './deps.ts';

/** How many frames of a task can be read; 0 for a task not heard of. */
export async function countStoredFrames({ db }: Pick<Deps, 'db'>, taskId: string): Promise<number> {
  return countStored(db, taskId);
}

/** The same of many tasks at once; tasks not heard of are left out. */
export async function countFramesOfTasks({ db }: Pick<Deps, 'db'>, taskIds: string[]): Promise<[string, number][]> {
  return countStoredOf(db, taskIds);
}
