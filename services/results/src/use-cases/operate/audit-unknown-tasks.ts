import type { Audit } from '@vision/shared/audit/auditor';
import { noteDifferences } from '@vision/shared/audit/differences';
import type { Found } from '@vision/shared/audit/differences';
import { claimUnended, findUnended } from '../../db/audit.ts';
import type { Deps } from '../deps.ts';

const KIND = 'frames_without_task';
const PAGE = 200;

/**
 * Finds frames of jobs without a task: if a task was lost with a commit, no caller stops its job or is charged for it.
 * Each task is queried a minute after its first frame, then less and less often, until its end-of-stream marker
 * arrives.
 */
export function auditUnknownTasks({ db, taskOwners }: Pick<Deps, 'db' | 'taskOwners'>): Audit {
  const unknown = async (taskIds: string[]): Promise<Found[]> => {
    if (taskIds.length === 0) return [];
    const known = new Set(await taskOwners.findKnown(taskIds));
    return taskIds.filter((id) => !known.has(id)).map((id) => ({ id, details: { task_id: id } }));
  };
  return {
    kind: KIND,
    find: async () => {
      const page = await claimUnended(db, PAGE);
      const withFrames = page.filter(({ hasFrames }) => hasFrames).map(({ id }) => id);
      await noteDifferences(db, KIND, await unknown(withFrames));
      return page.length === PAGE;
    },
    confirm: async (ids) => unknown(await findUnended(db, ids)),
  };
}
