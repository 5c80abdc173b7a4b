import type { Knex } from 'knex';
import type { Job } from '@vision/shared/contracts/inference';
import type { Task } from '../domain/task.ts';
import { leaseUntil } from './tasks.ts';
import { TASKS, toTask } from './task-row.ts';
import type { TaskRow } from './task-row.ts';

const ENDED_JOB = ['stopped', 'succeeded', 'failed'];

export interface DueTask {
  task: Task;
  /** How late it is asked about, in seconds. */
  lateS: number;
}

/**
 * Takes tasks that are due to be asked about, most overdue first; no other replica gets them until `leaseMs` is over.
 */
export async function claimDueTasks(
  db: Knex,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<DueTask[]> {
  const { rows } = await db.raw<{ rows: (TaskRow & { late_s: number })[] }>(
    `with due as (
       select task_id, check_at from tasks
        where check_at <= now()
        order by check_at
        limit :limit
        for update skip locked)
     update tasks set check_at = now() + make_interval(secs => :leaseS)
       from due where tasks.task_id = due.task_id
     returning tasks.*, extract(epoch from now() - due.check_at)::double precision as late_s`,
    { limit, leaseS: leaseMs / 1000 },
  );
  return rows.map((row) => ({ task: toTask(row), lateS: row.late_s }));
}

/** Stores what the backend said about a job; returns the task with it. */
export async function noteJob(db: Knex, task: Task, found: Job): Promise<Task> {
  const isOver = ENDED_JOB.includes(found.status);
  const [row] = await db(TASKS)
    .where({ task_id: task.taskId })
    .update({
      job_status: found.status,
      job_frames_published: found.frames_published,
      job_seen_at: db.fn.now(),
      job_missing_since: null,
      ...(isOver ? { job_ended_at: db.raw('coalesce(job_ended_at, now())') } : {}),
    })
    .returning<TaskRow[]>('*');
  return row ? { ...toTask(row), version: task.version, status: task.status, attempt: task.attempt } : task;
}

/** The backend does not have the job now. */
export async function noteMissing(db: Knex, task: Task): Promise<Task> {
  const [row] = await db(TASKS)
    .where({ task_id: task.taskId })
    .update({ job_missing_since: db.raw('coalesce(job_missing_since, now())') })
    .returning<TaskRow[]>('*');
  return row ? { ...toTask(row), version: task.version, status: task.status, attempt: task.attempt } : task;
}

/** Jobs of running tasks that the backend once had, and those of them that it does not have now. */
export async function countMissing(db: Knex): Promise<{ seen: number; missing: number }> {
  const { rows } = await db.raw<{ rows: { seen: number; missing: number }[] }>(
    `select count(*) as seen, count(*) filter (where job_missing_since is not null) as missing
       from tasks where status in ('running', 'stopping') and job_seen_at is not null`,
  );
  return rows[0] ?? { seen: 0, missing: 0 };
}

/** Sets when a task is asked about next. */
export async function checkAgain(db: Knex, taskIds: string[], afterMs: number): Promise<void> {
  if (taskIds.length === 0) return;
  await db(TASKS)
    .whereIn('task_id', taskIds)
    .whereNotNull('check_at')
    .update({ check_at: leaseUntil(db, afterMs) });
}

/** Tasks that need no more questions. */
export async function checkNoMore(db: Knex, taskIds: string[]): Promise<void> {
  if (taskIds.length > 0) await db(TASKS).whereIn('task_id', taskIds).update({ check_at: null });
}

/** The backend was asked to stop the job; `seen`: its answer showed that it had it. */
export async function noteStopSent(db: Knex, taskId: string, seen = false): Promise<void> {
  await db(TASKS)
    .where({ task_id: taskId })
    .update({
      stop_sent_at: db.fn.now(),
      stops_sent: db.raw('stops_sent + 1'),
      ...(seen ? { job_seen_at: db.fn.now() } : {}),
    });
}

/** The database clock, which all stored instants come from. */
export async function databaseNow(db: Knex, offset: string): Promise<Date> {
  const { rows } = await db.raw<{ rows: { now: Date }[] }>('select now() + ?::interval as now', [offset]);
  return rows[0]?.now ?? new Date();
}
