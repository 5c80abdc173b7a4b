import type { Knex } from 'knex';
import type { Job } from '@vision/shared/contracts/inference';
import { endOf } from '../domain/job-progress.ts';
import { confirmedStatuses } from '../domain/task.ts';
import type { Task } from '../domain/task.ts';
import { inFuture } from './instants.ts';
import { TaskMovedError } from './move-task.ts';
import { TASKS, toTask } from './task-row.ts';
import type { TaskRow } from './task-row.ts';

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

/**
 * Stores what the backend said about a job; returns the task with it.
 * @throws TaskMovedError when the task has moved since the backend was asked: the answer may be older than the move.
 */
export async function noteJob(db: Knex, task: Task, found: Job): Promise<Task> {
  return note(db, task, {
    job_status: found.status,
    job_frames_published: found.frames_published,
    job_seen_at: db.fn.now(),
    job_missing_since: null,
    job_attempt: found.attempt ?? null,
    // Another attempt may go on after an end that was told.
    job_ended_at: endOf(found.status) ? db.raw('coalesce(job_ended_at, now())') : null,
  });
}

/** The backend does not have the job now. @throws TaskMovedError as `noteJob`. */
export async function noteMissing(db: Knex, task: Task): Promise<Task> {
  return note(db, task, { job_missing_since: db.raw('coalesce(job_missing_since, now())') });
}

async function note(db: Knex, task: Task, facts: Partial<Record<keyof TaskRow, unknown>>): Promise<Task> {
  const [row] = await db(TASKS)
    .where({ task_id: task.taskId, status: task.status, version: task.version, attempt: task.attempt })
    .update(facts)
    .returning<TaskRow[]>('*');
  if (!row) throw new TaskMovedError(`${task.taskId} moved while its job was asked about`);
  return toTask(row);
}

/** Jobs of running tasks that the backend once had, and those of them that it does not have now. */
export async function countMissing(db: Knex): Promise<{ seen: number; missing: number }> {
  const { rows } = await db.raw<{ rows: { seen: number; missing: number }[] }>(
    `select count(*) as seen, count(*) filter (where job_missing_since is not null) as missing
       from tasks where status = any(:confirmedStatuses) and job_seen_at is not null`,
    { confirmedStatuses: [...confirmedStatuses] },
  );
  return rows[0] ?? { seen: 0, missing: 0 };
}

/** Sets when a task is asked about next, unless it has become due meanwhile: somebody wants it to be looked at. */
export async function checkAgain(db: Knex, taskIds: string[], afterMs: number): Promise<void> {
  if (taskIds.length === 0) return;
  await db(TASKS)
    .whereIn('task_id', taskIds)
    .where('check_at', '>', db.fn.now())
    .update({ check_at: inFuture(db, afterMs) });
}

/** Tasks that need no more questions. */
export async function checkNoMore(db: Knex, taskIds: string[]): Promise<void> {
  if (taskIds.length > 0) await db(TASKS).whereIn('task_id', taskIds).update({ check_at: null });
}

/** The backend was asked to stop the job. `jobSeen`: its answer showed that it had it. */
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

/** Both clocks at one instant: the plain one, which leases and what is noted about jobs go by, and the one of dates. */
export async function readClocks(db: Knex): Promise<{ now: Date; today: Date }> {
  const { rows } = await db.raw<{ rows: [{ now: Date; today: Date }] }>('select now() as now, vision_now() as today');
  return rows[0];
}
