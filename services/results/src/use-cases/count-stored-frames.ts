import { countStored } from '../db/ingests.ts';
import type { Deps } from './deps.ts';

/** How many frames of a task can be read; 0 for a task not heard of. */
export async function countStoredFrames({ db }: Pick<Deps, 'db'>, taskId: string): Promise<number> {
  return countStored(db, taskId);
}
