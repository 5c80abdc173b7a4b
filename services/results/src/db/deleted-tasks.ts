import type { Knex } from 'knex';
import { lockIngests } from './ingests.ts';

/** A task and the day of its id, which its rows are partitioned by. */
export interface TaskOfDay {
  day: string;
  taskId: string;
}

/** Returns those of these tasks that are not deleted yet, or that are deleted and still have stored data. */
export async function findUndeleted(db: Knex, tasks: TaskOfDay[]): Promise<TaskOfDay[]> {
  const { rows } = await db.raw<{ rows: TaskOfDay[] }>(
    `select asked.day::text as day, asked.task_id as "taskId"
       from unnest(:days::date[], :taskIds::uuid[]) as asked (day, task_id)
       left join ingests as i on i.task_id = asked.task_id
      where i.deleted_at is null or i.position > 0
         or exists (select from task_views as v where v.task_id = asked.task_id)
         or exists (select from folds as o where o.task_id = asked.task_id)
         or exists (select from sources as s where s.task_id = asked.task_id)
         or exists (select from track_snapshots as s where s.task_id = asked.task_id)
         or exists (select from alarm_images as a where a.task_id = asked.task_id)
         or exists (select from source_states as s where s.task_id = asked.task_id)
         or exists (select from late_frames as l where l.task_id = asked.task_id)
         or exists (select from segments as s where s.day = asked.day and s.task_id = asked.task_id)
         or exists (select from frames as f where f.day = asked.day and f.task_id = asked.task_id)
         or exists (select from tracks as t where t.day = asked.day and t.task_id = asked.task_id)
         or exists (select from timeline_hours as h where h.day = asked.day and h.task_id = asked.task_id)`,
    { days: tasks.map(({ day }) => day), taskIds: tasks.map(({ taskId }) => taskId) },
  );
  return rows;
}

/** Whether the owner of a task has deleted it. */
export async function isDeleted(db: Knex, taskId: string): Promise<boolean> {
  const found = await db('ingests')
    .where({ task_id: taskId })
    .whereNotNull('deleted_at')
    .first<{ task_id: string } | undefined>('task_id');
  return found !== undefined;
}

/**
 * Serialises the deletion of a task and writes of its data until the transaction ends: without it a row that is stored
 * during the deletion would stay. A row of the task cannot be locked instead, as there may be none.
 */
async function lockDeletion(tx: Knex.Transaction, taskId: string, by: 'deletion' | 'writer'): Promise<void> {
  const lock = by === 'deletion' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  await tx.raw(`select ${lock}(hashtextextended(?, 0))`, [`deletion of ${taskId}`]);
}

/** Whether the owner of a task has deleted it; no request can delete it until the end of the transaction. */
export async function isDeletedForNow(tx: Knex.Transaction, taskId: string): Promise<boolean> {
  await lockDeletion(tx, taskId, 'writer');
  return isDeleted(tx, taskId);
}

/**
 * Makes a task permanently unreadable. Its row in `ingests` stays: every writer of frames locks it first and finds the
 * deletion there. Waits for a running fold, which locks its own row before that one.
 */
export async function markDeleted(tx: Knex.Transaction, taskId: string): Promise<void> {
  await tx.raw(
    `insert into folds (task_id, seq, position, revision, state) values (?, -1, 0, 0, '') on conflict do nothing`,
    [taskId],
  );
  await tx('folds').where({ task_id: taskId }).forUpdate().select('revision');
  await lockDeletion(tx, taskId, 'deletion');
  await lockIngests(tx, [taskId]);
  await tx.raw(
    `update ingests
        set deleted_at = coalesce(deleted_at, vision_now()), stored = 0, position = 0, max_seq = -1, late_position = 0,
            late_listed = 0, attempt_stored = 0, attempt_first = null, attempt_last = null, unmatched_frames = 0,
            pending_end = null, pending_until = null, end_frames = null, compact_at = null, fold_at = null
      where task_id = ?`,
    [taskId],
  );
  for (const table of ['folds', 'task_views', 'sources']) await tx(table).where({ task_id: taskId }).delete();
}

/**
 * Removes rows of a deleted task from a table that is not partitioned by day, `limit` at most; returns their number. No
 * process adds any, so none is moved while the statement runs.
 */
export async function removeUndated(
  db: Knex,
  { table, taskId }: { table: 'alarm_images' | 'late_frames' | 'segment_copies' | 'source_states'; taskId: string },
  limit: number,
): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    'delete from ?? where ctid = any(array(select ctid from ?? where task_id = ? limit ?))',
    [table, table, taskId, limit],
  );
  return rowCount;
}

/**
 * Removes segments of a deleted task, `limit` at most; returns how many. Their objects become objects without a
 * segment, which the sweep removes from the store.
 */
export async function removeSegments(db: Knex, { day, taskId }: TaskOfDay, limit: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ removed: number }] }>(
    `with removed as (
       delete from segments where day = :day and task_id = :taskId and (first_seq, id) in (
         select first_seq, id from segments where day = :day and task_id = :taskId order by first_seq, id limit :limit)
       returning object_key),
     listed as (
       insert into unindexed_objects (object_key, day)
       select object_key, :day from removed where object_key is not null on conflict do nothing)
     select count(*)::int as removed from removed`,
    { day, taskId, limit },
  );
  return rows[0].removed;
}

const partOf = { frames: 'seq', tracks: 'track_id', timeline_hours: 'hour_ms' } as const;

/** Removes rows of a deleted task, `limit` at most; returns how many. */
export async function removeRows(
  db: Knex,
  { table, day, taskId }: TaskOfDay & { table: keyof typeof partOf },
  limit: number,
): Promise<number> {
  const part = partOf[table];
  const first = db(table).where({ day, task_id: taskId }).orderBy(part).limit(limit).select(part);
  return db(table).where({ day, task_id: taskId }).whereIn(part, first).delete();
}
