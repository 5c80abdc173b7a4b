import type { Knex } from 'knex';
import type { ReadableTask, TaskView, WatchedTask } from '../domain/task-view.ts';
import { FOLD, foldOf } from './folds.ts';
import type { FoldColumns, ReadableFold } from './folds.ts';

/**
 * Stores the newest version, in any order of arrival. Views of earlier releases get their missing fields. Returns
 * whether anything has changed.
 */
export async function saveTaskView(db: Knex, view: TaskView): Promise<boolean> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into task_views as known
            (task_id, version, subject, status, lower_bound, default_min_score, ended_at, frames_published,
             result_expires_at, kind, reason, scene_code, client_ref, snapshots)
     values (:task_id, :version, :subject, :status, :lower_bound, :default_min_score, :ended_at, :frames_published,
             :result_expires_at, :kind, :reason, :scene_code, :client_ref, :snapshots)
     on conflict (task_id) do update
        set version = excluded.version, subject = excluded.subject, status = excluded.status,
            lower_bound = excluded.lower_bound, default_min_score = excluded.default_min_score,
            ended_at = excluded.ended_at, frames_published = excluded.frames_published,
            result_expires_at = excluded.result_expires_at, kind = coalesce(excluded.kind, known.kind),
            reason = excluded.reason, scene_code = coalesce(excluded.scene_code, known.scene_code),
            client_ref = coalesce(excluded.client_ref, known.client_ref),
            snapshots = coalesce(excluded.snapshots, known.snapshots)
      where known.version < excluded.version
         or (known.version = excluded.version
             and (known.kind is null or known.scene_code is null or known.snapshots is null))`,
    {
      ...view,
      ended_at: view.ended_at ?? null,
      frames_published: view.frames_published ?? null,
      kind: view.kind ?? null,
      reason: view.reason ?? null,
      scene_code: view.scene_code ?? null,
      client_ref: view.client_ref ?? null,
      snapshots: view.snapshots ?? null,
    },
  );
  return rowCount > 0;
}

const READABLE = `v.task_id, v.status, v.lower_bound, v.default_min_score,
            (v.result_expires_at <= vision_now() or i.deleted_at is not null) as is_expired,
            coalesce(v.ended_at + make_interval(secs => :patienceS) <= vision_now(), false) as is_long_over,
            coalesce(i.position, 0) as position, coalesce(i.late_position, 0) as late_position,
            coalesce(i.late_listed = i.late_position, true) as is_late_listed,
            i.end_status is not null and v.ended_at is not null as is_complete,
            coalesce(v.ended_at > vision_now() - interval '1 minute', false) as is_just_over,
            v.kind, v.snapshots, v.result_expires_at`;

/** The task if it belongs to this subject. It is never newer than the frames that are read after it. */
export async function findReadableTask(
  db: Knex,
  { taskId, subject, endPatienceMs }: { taskId: string; subject: string; endPatienceMs: number },
): Promise<ReadableTask | undefined> {
  const result = await db.raw<{ rows: ReadableTask[] }>(
    `select ${READABLE} from task_views as v left join ingests as i on i.task_id = v.task_id
      where v.task_id = :taskId and v.subject = :subject`,
    { taskId, subject, patienceS: endPatienceMs / 1000 },
  );
  return result.rows[0];
}

/** The same task with the progress of its fold, as of one instant. */
export async function findFoldedTask(
  db: Knex,
  { taskId, subject, endPatienceMs }: { taskId: string; subject: string; endPatienceMs: number },
): Promise<{ task: ReadableTask; fold: ReadableFold } | undefined> {
  const { rows } = await db.raw<{ rows: (ReadableTask & FoldColumns)[] }>(
    `select ${READABLE}, ${FOLD} from task_views as v left join ingests as i on i.task_id = v.task_id
       left join folds as f on f.task_id = v.task_id left join sources as s on s.task_id = v.task_id
      where v.task_id = :taskId and v.subject = :subject`,
    { taskId, subject, patienceS: endPatienceMs / 1000 },
  );
  const [row] = rows;
  return row && { task: row, fold: { ...foldOf(row), stored: row } };
}

/** Current state of these tasks, of any subject. */
export async function findWatchedTasks(
  db: Knex,
  { taskIds, endPatienceMs }: { taskIds: string[]; endPatienceMs: number },
): Promise<Map<string, WatchedTask>> {
  const { rows } = await db.raw<{ rows: WatchedTask[] }>(
    `select ${READABLE} from task_views as v left join ingests as i on i.task_id = v.task_id
      where v.task_id = any(:taskIds::uuid[])`,
    { taskIds, patienceS: endPatienceMs / 1000 },
  );
  return new Map(rows.map((task) => [task.task_id, task]));
}
