import { countByStatus } from '../db/tasks.ts';
import type { Deps } from './deps.ts';

/** Counts the tasks that have not ended, for whoever watches the service; leaves nothing to do. */
export async function takeCensus({ db, signals }: Pick<Deps, 'db' | 'signals'>): Promise<number> {
  signals.census(await countByStatus(db));
  return 0;
}
