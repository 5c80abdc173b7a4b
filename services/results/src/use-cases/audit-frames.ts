import type { Audit } from '@vision/shared/audit/auditor';
import { noteDifferences, setMark, windowOf } from '@vision/shared/audit/differences';
import type { Found } from '@vision/shared/audit/differences';
import { endedTasks, incomplete } from '../db/audit.ts';
import type { EndedTask } from '../db/audit.ts';
import { dayOfTask } from '../domain/task-day.ts';
import type { Deps } from './deps.ts';

const KIND = 'stored_frames';
// Longer than any transaction takes, so no view changes behind the mark.
const LAG_MS = 30_000;

/**
 * Stored frames of tasks that have ended against their count and what their end mark speaks of; each task once, after
 * its end.
 */
export function auditFrames({ db, settings }: Pick<Deps, 'db' | 'settings'>): Audit {
  const differing = async (taskIds: string[]) => {
    const tasks = taskIds.flatMap((taskId) => {
      const day = dayOfTask(taskId);
      return day === undefined ? [] : [{ taskId, day }];
    });
    return (await incomplete(db, tasks)).map(toFound);
  };
  return {
    kind: KIND,
    find: async () => {
      const window = await windowOf(db, KIND, Math.min(LAG_MS, settings.auditAgeMs));
      await noteDifferences(db, KIND, await differing(await endedTasks(db, window)));
      await setMark(db, KIND, window.to);
      return false;
    },
    confirm: differing,
  };
}

const toFound = ({ taskId, published, stored, frames, hasEndMark, attempt, marked }: EndedTask): Found => ({
  id: taskId,
  details: {
    task_id: taskId,
    published,
    counted: stored,
    frames,
    end_mark: hasEndMark,
    last_attempt: attempt,
    marked,
  },
});
