import type { Knex } from 'knex';
import type { FrameRow, PresentFrame } from '../domain/plan-storing.ts';

/** A frame that is stored as a row. */
export interface StoredFrame {
  seq: number;
  position: number;
  frame_time_ms: number;
  width: number;
  height: number;
  objects: string;
}

/** Returns those of these frames whose numbers a row has. */
export async function presentRows(tx: Knex.Transaction, rows: FrameRow[]): Promise<PresentFrame[]> {
  if (rows.length === 0) return [];
  const result = await tx.raw<{ rows: PresentFrame[] }>(
    `select f.task_id as "taskId", f.seq, f.attempt, f.frame_time_ms as "frameTimeMs", f.width, f.height
       from json_to_recordset(?::json) as told (day date, "taskId" uuid, seq int)
       join frames as f on f.day = told.day and f.task_id = told."taskId" and f.seq = told.seq`,
    [namesOf(rows)],
  );
  return result.rows;
}

/** Assigns the rows of these frames to the newer attempt. */
export async function adoptRows(tx: Knex.Transaction, rows: FrameRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.raw(
    `update frames as f set attempt = told.attempt
       from json_to_recordset(?::json) as told (day date, "taskId" uuid, seq int, attempt int)
      where f.day = told.day and f.task_id = told."taskId" and f.seq = told.seq and f.attempt < told.attempt`,
    [namesOf(rows)],
  );
}

const namesOf = (rows: FrameRow[]) =>
  JSON.stringify(rows.map(({ day, taskId, seq, attempt }) => ({ day, taskId, seq, attempt })));

/** Counts the stored frames of an attempt; for a long task of rows this reads many. */
export async function countAttempt(
  tx: Knex.Transaction,
  { day, taskId, attempt }: { day: string; taskId: string; attempt: number },
): Promise<{ stored: number; first: number | null; last: number | null }> {
  await tx.raw(`set local statement_timeout = '60s'`);
  const result = await tx.raw<{ rows: [{ stored: number; first: number | null; last: number | null }] }>(
    `select coalesce(sum(count), 0)::bigint as stored, min(first) as first, max(last) as last from (
       select count(*) as count, min(seq) as first, max(seq) as last from frames
        where day = :day and task_id = :taskId and attempt = :attempt
       union all
       select (own ->> 0)::bigint, (own ->> 1)::int, (own ->> 2)::int
         from (select attempts -> :attempt::text as own from segments where day = :day and task_id = :taskId) as s
        where own is not null) as counted`,
    { day, taskId, attempt },
  );
  return result.rows[0];
}

export interface FrameRange {
  day: string;
  taskId: string;
  /** Frames at later positions were not stored when the page began. */
  upToPosition: number;
  limit: number;
}

/** Frames with larger numbers than `seq`, in order. */
export async function framesAfter(db: Knex, range: FrameRange, seq: number): Promise<StoredFrame[]> {
  const result = await db.raw<{ rows: StoredFrame[] }>(
    `select seq, position, frame_time_ms, width, height, objects from frames
      where day = :day and task_id = :taskId and seq > :seq and position <= :upToPosition
      order by seq limit :limit`,
    { ...range, seq },
  );
  return result.rows;
}

/** Lists frames that were stored after frames with larger numbers, so that readers find them without a search. */
export async function listLateFrames(tx: Knex.Transaction, rows: FrameRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx('late_frames').insert(rows.map(({ taskId, position, seq }) => ({ task_id: taskId, position, seq })));
}

/** An entry of the list of late frames. */
export interface LateFrame {
  seq: number;
  position: number;
}

/** Frames up to `seq` that were stored after `position`, in the order of storing, when all late frames are listed. */
export async function listedLateFrames(
  db: Knex,
  { taskId, upToPosition, limit }: FrameRange,
  { seq, position }: { seq: number; position: number },
): Promise<LateFrame[]> {
  const result = await db.raw<{ rows: LateFrame[] }>(
    `select seq, position from late_frames
      where task_id = :taskId and position > :position and position <= :upToPosition and seq <= :seq
      order by position limit :limit`,
    { taskId, upToPosition, limit, seq, position },
  );
  return result.rows;
}

/** Frames with these numbers that are stored as rows. */
export async function framesOfNumbers(
  db: Knex,
  { day, taskId }: Pick<FrameRange, 'day' | 'taskId'>,
  seqs: number[],
): Promise<StoredFrame[]> {
  if (seqs.length === 0) return [];
  return db('frames')
    .where({ day, task_id: taskId })
    .whereIn('seq', seqs)
    .select('seq', 'position', 'frame_time_ms', 'width', 'height', 'objects');
}

/** The same from all rows of the task: reads every row up to `seq`. */
export async function lateFrames(
  db: Knex,
  range: FrameRange,
  { seq, position }: { seq: number; position: number },
): Promise<StoredFrame[]> {
  const result = await db.raw<{ rows: StoredFrame[] }>(
    `select seq, position, frame_time_ms, width, height, objects from frames
      where day = :day and task_id = :taskId and seq <= :seq and position > :position and position <= :upToPosition
      order by position limit :limit`,
    { ...range, seq, position },
  );
  return result.rows;
}
