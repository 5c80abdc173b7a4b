import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import type { TaskLoop } from '@vision/shared/async/task-loops';
import type { Audit } from '@vision/shared/audit/auditor';
import { noteDifferences, setMark } from '@vision/shared/audit/differences';
import type { Found } from '@vision/shared/audit/differences';
import { inTransaction } from '@vision/shared/db/transaction';
import { countFrames, describeEnded, endedTasks } from '../../db/audit.ts';
import { isIncomplete } from '../../domain/ended-task.ts';
import type { EndedTask, FramesOfTask } from '../../domain/ended-task.ts';
import type { Deps } from '../deps.ts';

/** Name of the differences, and of the mark up to which frames were counted. */
const KIND = 'stored_frames';
/** The mark up to which counters were compared. */
const COUNTERS = 'stored_frames_counters';
// Longer than any transaction, so no view changes before the mark.
const LAG_MS = 30_000;
const PAGE = 200;
/** Maximum time that a round counts frames; other audits wait for it. */
const COUNTING_MS = 5_000;

/**
 * Compares stored frames of ended tasks with their count and their end-of-stream marker; each task once, after its end.
 * The counters from storing are compared first, a page of tasks in one statement: for any number of tasks this takes
 * seconds. Then the stored frames are counted, task by task. A task that cannot be counted is a difference until it can
 * be; it does not block others.
 */
export function auditFrames({ db, loops, settings }: Pick<Deps, 'db' | 'loops' | 'settings'>): Audit {
  const lagMs = Math.min(LAG_MS, settings.auditAgeMs);
  const count = (taskId: string) => countTask(db, loops.of('stored_frames'), taskId);
  return {
    kind: KIND,
    find: async () => {
      const areMore = await compareCounters(db, lagMs);
      return (await countPage(db, lagMs, count)) || areMore;
    },
    confirm: async (taskIds) => {
      const still: Found[] = [];
      for (const taskId of taskIds) still.push(...(await count(taskId)));
      return still;
    },
  };
}

async function compareCounters(db: Knex, lagMs: number): Promise<boolean> {
  const { tasks, upTo, isFull } = await endedTasks(db, { mark: COUNTERS, lagMs, limit: PAGE });
  const ended = await describeEnded(
    db,
    tasks.map(({ taskId }) => taskId),
  );
  const differing = ended.filter((task) => isIncomplete(task, task.byCounters));
  await noteDifferences(
    db,
    KIND,
    differing.map((task) => toFound(task, task.byCounters)),
  );
  await setMark(db, COUNTERS, upTo);
  return isFull;
}

/** The difference of a task, if any. */
type Count = (taskId: string) => Promise<Found[]>;

/** Returns whether there are more tasks to count. */
async function countPage(db: Knex, lagMs: number, count: Count): Promise<boolean> {
  const { tasks, upTo, isFull } = await endedTasks(db, { mark: KIND, lagMs, limit: PAGE });
  const until = performance.now() + COUNTING_MS;
  let last: string | undefined;
  for (const { taskId, changedAt } of tasks) {
    // Tasks of one instant stay together, because the mark cannot separate them.
    if (last !== undefined && changedAt !== last) {
      await setMark(db, KIND, last);
      if (performance.now() >= until) return true;
    }
    await noteDifferences(db, KIND, await count(taskId));
    last = changedAt;
  }
  await setMark(db, KIND, upTo);
  return isFull;
}

async function countTask(db: Knex, loop: TaskLoop, taskId: string): Promise<Found[]> {
  const uncounted: Found = { id: taskId, details: { task_id: taskId, uncounted: true } };
  let found = [uncounted];
  const outage = await loop.attempt(taskId, async () => {
    found = await differenceOf(db, taskId);
  });
  if (outage) throw outage;
  return found;
}

async function differenceOf(db: Knex, taskId: string): Promise<Found[]> {
  const day = dayOfTask(taskId);
  if (day === undefined) return [];
  return inTransaction(
    db,
    async (tx) => {
      const [task] = await describeEnded(tx, [taskId]);
      if (!task) return [];
      const there = await countFrames(tx, { taskId, day, attempt: task.lastAttempt });
      return isIncomplete(task, there) ? [toFound(task, there)] : [];
    },
    // All statements see the counters and the frames of one instant.
    { isolationLevel: 'repeatable read' },
  );
}

const toFound = (
  { taskId, published, stored, hasEndMark, marked }: EndedTask,
  { frames, attempt }: FramesOfTask,
): Found => ({
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
