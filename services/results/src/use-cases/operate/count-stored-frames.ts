import { findIngest, findIngests } from '../../db/ingests.ts';
import type { Ingest } from '../../domain/plan-storing.ts';
import type { Deps } from '../deps.ts';

/** Readable frames of a task. */
export interface StoredFrames {
  frames: number;
  /** The attempt whose end-of-stream marker has been applied. */
  completedAttempt: number | undefined;
}

/** Counts the readable frames of a task; 0 for an unknown task. */
export async function countStoredFrames({ db }: Pick<Deps, 'db'>, taskId: string): Promise<StoredFrames> {
  const ingest = await findIngest(db, taskId);
  return ingest ? storedFrames(ingest) : { frames: 0, completedAttempt: undefined };
}

/** The same for many tasks at once, by their ids; unknown tasks are omitted. */
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
