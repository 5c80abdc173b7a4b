import type { Knex } from 'knex';
import type { Job } from '@vision/contracts/inference';
import { endOf } from '../domain/job-progress.ts';
import { confirmedStatuses } from '../domain/task.ts';
import type { Task } from '../domain/task.ts';
import { inFuture } from './instants.ts';
import { TaskMovedError } from './move-task.ts';
import { TASKS, toTask } from './task-row.ts';
import type { TaskRow } from './task-row.ts';

export interface DueTasks {
  tasks: Task[];
  /** Delay of the query for each task, in seconds. */
  latenesses: number[];
  clocks: Clocks;
}

/** One instant by two clocks: `now` for leases and job facts, `today` for dates and expiry. */
interface Clocks {
  now: Date;
  today: Date;
}

/**
 * Claims tasks whose jobs are due to be queried; no other replica gets them until `leaseMs` has passed. Tasks that a
 * client waits for come before tasks that just run, of which many may be due at once after an outage; then the most
 * overdue.
 */
export async function claimDueTasks(
  db: Knex,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<DueTasks | undefined> {
  const { rows } = await db.raw<{ rows: (TaskRow & Clocks & { late_s: number })[] }>(
    `with due as (
       select task_id, check_at from tasks
        where check_at <= now()
        order by (status = 'running' and results_completed_at is null), check_at
        limit :limit
        for update skip locked)
     update tasks set check_at = now() + make_interval(secs => :leaseS)
       from due where tasks.task_id = due.task_id
     returning tasks.*, extract(epoch from now() - due.check_at)::double precision as late_s,
               now() as now, vision_now() as today`,
    { limit, leaseS: leaseMs / 1000 },
  );
  const [first] = rows;
  return first && { tasks: rows.map(toTask), latenesses: rows.map((row) => row.late_s), clocks: first };
}

/**
 * SQL condition, answered by an index: whether a task is overdue. Tasks that become due one by one are queried
 * together; a stop of a dead replica is queried at once, because a caller waits for it.
 */
export const ANY_DUE = `exists (
  select from tasks where check_at <= now() and (status = 'stopping' or check_at <= now() - interval '1.5 seconds'))`;

/** A task whose job runs, and what the backend reported about it. */
export interface QuietTask {
  task: Task;
  job: Job;
}

/**
 * Stores the reported state of running jobs and when to query them next, all in one statement. A task that moved
 * meanwhile stays unchanged, and a task that has become due is queried at once. The next queries are spread over a
 * fifth of the pause, so that tasks which began together drift apart.
 */
export async function noteQuiet(db: Knex, quiet: QuietTask[], afterMs: number): Promise<void> {
  if (quiet.length === 0) return;
  await db.raw(
    `update tasks
        set job_status = told.job_status, job_frames_published = told.frames, job_attempt = told.job_attempt,
            job_seen_at = now(), job_missing_since = null,
            check_at = case when tasks.check_at > now()
                            then now() + make_interval(secs => :afterS * (0.9 + 0.2 * random())) else tasks.check_at end
       from unnest(:ids::uuid[], :versions::int[], :attempts::int[], :statuses::text[], :frames::bigint[],
                   :jobAttempts::int[]) as told (task_id, version, attempt, job_status, frames, job_attempt)
      where tasks.task_id = told.task_id and tasks.version = told.version and tasks.attempt = told.attempt`,
    {
      afterS: afterMs / 1000,
      ids: quiet.map(({ task }) => task.taskId),
      versions: quiet.map(({ task }) => task.version),
      attempts: quiet.map(({ task }) => task.attempt),
      statuses: quiet.map(({ job }) => job.status),
      frames: quiet.map(({ job }) => job.frames_published),
      jobAttempts: quiet.map(({ job }) => job.attempt ?? null),
    },
  );
}

/**
 * Stores the reported state of a job; returns the updated task.
 * @throws TaskMovedError when the task has moved since the query: the answer may be older than the move.
 */
export async function noteJob(db: Knex, task: Task, found: Job): Promise<Task> {
  return note(db, task, {
    job_status: found.status,
    job_frames_published: found.frames_published,
    job_seen_at: db.fn.now(),
    job_missing_since: null,
    job_attempt: found.attempt ?? null,
    // A job may continue with another attempt after a reported end.
    job_ended_at: endOf(found.status) ? db.raw('least(job_ended_at, now())') : null,
  });
}

/** Records that the backend does not have the job now. @throws TaskMovedError like `noteJob`. */
export async function noteMissing(db: Knex, task: Task): Promise<Task> {
  return note(db, task, { job_missing_since: db.raw('least(job_missing_since, now())') });
}

async function note(db: Knex, task: Task, facts: Partial<Record<keyof TaskRow, unknown>>): Promise<Task> {
  const [row] = await db(TASKS)
    .where({ task_id: task.taskId, status: task.status, version: task.version, attempt: task.attempt })
    .update(facts)
    .returning<TaskRow[]>('*');
  if (!row) throw new TaskMovedError(`${task.taskId} moved while its job was asked about`);
  return toTask(row);
}

/** Counts jobs of running tasks that the backend once reported, and those of them that it no longer reports. */
export async function countMissing(db: Knex): Promise<{ seen: number; missing: number }> {
  const { rows } = await db.raw<{ rows: { seen: number; missing: number }[] }>(
    `select count(*) as seen, count(*) filter (where job_missing_since is not null) as missing
       from tasks where status = any(:confirmedStatuses) and job_seen_at is not null`,
    { confirmedStatuses: [...confirmedStatuses] },
  );
  return rows[0] ?? { seen: 0, missing: 0 };
}

/** Sets when to query the jobs of tasks next, unless a task has become due meanwhile because a change is expected. */
export async function checkAgain(db: Knex, taskIds: string[], afterMs: number): Promise<void> {
  if (taskIds.length === 0) return;
  await db(TASKS)
    .whereIn('task_id', taskIds)
    .where('check_at', '>', db.fn.now())
    .update({ check_at: inFuture(db, afterMs) });
}

/** Ends the queries for these tasks. */
export async function checkNoMore(db: Knex, taskIds: string[]): Promise<void> {
  if (taskIds.length > 0) await db(TASKS).whereIn('task_id', taskIds).update({ check_at: null });
}

/** Records a stop request to the backend. `jobSeen`: its answer showed that it had the job. */
export async function noteStopSent(
  db: Knex,
  taskId: string,
  { jobSeen }: { jobSeen: boolean } = { jobSeen: false },
): Promise<void> {
  await db(TASKS)
    .where({ task_id: taskId })
    .update({
      stop_sent_at: db.fn.now(),
      stops_sent: db.raw('stops_sent + 1'),
      ...(jobSeen ? { job_seen_at: db.fn.now() } : {}),
    });
}
