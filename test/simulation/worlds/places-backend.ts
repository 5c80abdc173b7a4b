import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { promise } from '../broken.ts';
import type { Stage } from '../world.ts';

/** Counts the jobs of an inference backend that has so many places. */
export interface Backend {
  capacity: () => { free: { stream: number; object: number }; places: { stream: number; object: number } };
  /** A job begins, and its task is in the database. */
  begin: (db: Knex, subject: string) => Promise<void>;
  /** The oldest job ends. */
  end: () => Promise<void>;
  runs: (subject: string) => number;
  /** Has to be called after each step. @param granted slots that were given out and have no job yet */
  noteFree: (granted: number) => void;
  /** When a slot became free that has been free ever since. */
  freeSinceMs: () => number | undefined;
}

export function createBackend({ db: admin, time }: Stage, places: number): Backend {
  const jobs: { taskId: string; subject: string }[] = [];
  let freeSinceMs: number | undefined;
  return {
    capacity: () => ({ free: { stream: places - jobs.length, object: 0 }, places: { stream: places, object: 0 } }),
    begin: async (db, subject) => {
      const job = { taskId: randomUUID(), subject };
      jobs.push(job);
      promise(`${jobs.length} jobs never exceed ${places} places`, jobs.length <= places);
      await db('tasks').insert(rowOf(job, time.now()));
    },
    end: async () => {
      const job = jobs.shift();
      if (job) await admin('tasks').where({ task_id: job.taskId }).update({ status: 'stopped' });
    },
    runs: (subject) => jobs.filter((job) => job.subject === subject).length,
    noteFree: (granted) => {
      const isFree = places - jobs.length - granted > 0;
      freeSinceMs = isFree ? (freeSinceMs ?? time.now().getTime()) : undefined;
    },
    freeSinceMs: () => freeSinceMs,
  };
}

/** What a running task has to have; capacity slots depend on its subject, kind and status. */
const rowOf = ({ taskId, subject }: { taskId: string; subject: string }, now: Date) => ({
  task_id: taskId,
  subject,
  kind: 'stream',
  request_id: taskId,
  request_key: taskId,
  scene_code: 'person_vehicle',
  status: 'running',
  version: 1,
  attempt: 1,
  lower_bound: 0.3,
  default_min_score: 0.3,
  reservation_id: `${taskId}/1`,
  created_at: now,
  updated_at: now,
  result_expires_at: now,
});
