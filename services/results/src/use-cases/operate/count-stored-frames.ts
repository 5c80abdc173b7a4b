import { findIngest, findIngests } from '../../db/ingests.ts';
import type { Ingest } from '../../domain/plan-storing.ts';
import type { Deps } from '../deps.ts';

/** What can be read of a task. */
export interface StoredFrames {
  frames: number;
  /** The attempt whose end mark is in force. */
  completedAttempt: number | undefined;
}

/** How much of a task can be read; nothing of a task not heard of. */
export async function countStoredFrames({ db }: Pick<Deps, 'db'>, taskId: string): Promise<StoredFrames> {
  const ingest = await findIngest(db, taskId);
  return ingest ? storedFrames(ingest) : { frames: 0, completedAttempt: undefined };
}

/** The same of many tasks at once, by their ids; tasks not heard of are left out. */
export async function countFramesOfTasks(
  { db }: Pick<Deps, 'db'>,
  taskIds: string[],
): Promise<Map<string, StoredFrames>> {
  const ingests = await findIngests(db, taskIds);
  return new Map(ingests.map((ingest) => [ingest.task_id, storedFrames(ingest)]));
}

const storedFrames = ({ stored, end_status: endStatus, attempt }: Ingest): StoredFrames => ({
  frames: stored,
  completedAttempt: endStatus ? attempt : undefined,
});
