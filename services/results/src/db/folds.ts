import type { Knex } from 'knex';
import type { Progress } from '../domain/cursor.ts';
import type { FrameState } from '../domain/task-view.ts';
import { isDeleted } from './deleted-tasks.ts';
import { deleteHours } from './timeline-hours.ts';
import { deleteTracks } from './tracks.ts';

/** How far a task is folded. */
export interface StoredFold extends Progress {
  /** Grows with every change. */
  revision: number;
  /** `encodeState` wrote it. */
  state: Buffer;
}

/** Tasks that are due, in SQL that an index answers. */
export const ANY_FOLD_DUE = 'exists (select from ingests where fold_at <= now())';

/** Seconds since the longest waiting task was due; 0 when none is. */
export async function foldLag(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ lag: number | null }] }>(
    `select extract(epoch from now() - min(fold_at))::double precision as lag from ingests where fold_at <= now()`,
  );
  return rows[0].lag ?? 0;
}

/** Makes a task due now when frames of it are behind and no fold is planned or running. */
export async function requestFold(db: Knex, taskId: string): Promise<void> {
  await db('ingests')
    .where({ task_id: taskId })
    .whereNull('fold_at')
    .whereNull('deleted_at')
    .update({ fold_at: db.raw('now()') });
}

/** Plans the next fold of a task: `ms` from now while frames are behind this position, else when frames are stored. */
export async function planFold(
  tx: Knex.Transaction,
  taskId: string,
  { position, ms }: { position: number; ms: number },
): Promise<void> {
  await tx.raw(
    `update ingests
        set fold_at = case when position > :position then now() + make_interval(secs => :seconds) end
      where task_id = :taskId`,
    { taskId, position, seconds: ms / 1000 },
  );
}

/** How far the frames of a task are stored and folded, as of one moment. */
export interface FoldProgress {
  stored: FrameState;
  fold: StoredFold | undefined;
  /** Rate at which its source is sampled; null when the backend does not report it. */
  sampleFps: number | null;
}

interface FoldProgressRow extends FrameState, Progress {
  revision: number | null;
  state: Buffer;
  foldPosition: number;
  sampleFps: number | null;
}

/** Reads how far a task is stored and folded. */
export async function findFold(db: Knex, taskId: string): Promise<FoldProgress> {
  const { rows } = await db.raw<{ rows: [FoldProgressRow | undefined] }>(
    `select i.position, i.late_position, i.late_listed = i.late_position as is_late_listed,
            f.seq, f.position as "foldPosition", f.revision, f.state,
            (s.snapshot ->> 'sample_fps')::double precision as "sampleFps"
       from ingests as i left join folds as f on f.task_id = i.task_id left join sources as s on s.task_id = i.task_id
      where i.task_id = ?`,
    [taskId],
  );
  const [row] = rows;
  if (!row)
    return { stored: { position: 0, late_position: 0, is_late_listed: true }, fold: undefined, sampleFps: null };
  const { seq, foldPosition, revision, state, sampleFps, ...stored } = row;
  const fold = revision === null || revision === 0 ? undefined : { seq, position: foldPosition, revision, state };
  return { stored, fold, sampleFps };
}

/** The revision of a fold; 0 before the first one. */
export async function revisionOfFold(db: Knex, taskId: string): Promise<number> {
  const found = await db('folds').where({ task_id: taskId }).first<{ revision: number } | undefined>('revision');
  return found?.revision ?? 0;
}

/**
 * Locks a fold until the end of the transaction, when it still has this revision; 0: there is none yet. False for a
 * task that was deleted meanwhile.
 */
export async function lockFold(tx: Knex.Transaction, taskId: string, revision: number): Promise<boolean> {
  await tx.raw(
    `insert into folds (task_id, seq, position, revision, state) values (?, -1, 0, 0, '') on conflict do nothing`,
    [taskId],
  );
  const locked = await tx('folds').where({ task_id: taskId, revision }).forUpdate().select('revision');
  if (!(await isDeleted(tx, taskId))) return locked.length === 1;
  await tx('folds').where({ task_id: taskId }).delete();
  return false;
}

/** Writes a locked fold. */
export async function saveFold(
  tx: Knex.Transaction,
  taskId: string,
  { seq, position, revision, state }: StoredFold,
): Promise<void> {
  await tx('folds').where({ task_id: taskId }).update({ seq, position, revision, state });
}

/** Removes everything that was made of the frames of one task. */
export async function deleteFold(tx: Knex.Transaction, task: { day: string; taskId: string }): Promise<void> {
  await deleteTracks(tx, task);
  await deleteHours(tx, task);
  await tx('folds').where({ task_id: task.taskId }).delete();
}

/** Removes folds of tasks with smaller ids, whose tracks and hours went with their day; returns how many. */
export async function deleteFoldsBelow(db: Knex, taskId: string, batch: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from folds where task_id in (select task_id from folds where task_id < :taskId order by task_id limit :batch)`,
    { taskId, batch },
  );
  return result.rowCount;
}
