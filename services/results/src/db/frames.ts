import type { Knex } from 'knex';
import type { Client } from 'pg';
import copyStreams from 'pg-copy-streams';
import { finished } from 'node:stream/promises';
import type { Doubtful, FrameRow } from '../domain/plan-storing.ts';

/** A frame as a page shows it. */
export interface StoredFrame {
  seq: number;
  position: number;
  frame_time_ms: number;
  width: number;
  height: number;
  objects: string;
}

/**
 * Stores frames that cannot be there yet (their task is locked and their numbers are larger than any stored one). COPY
 * takes a third of the time of an insert with as many parameters.
 */
export async function copyFrames(tx: Knex.Transaction, rows: FrameRow[]): Promise<void> {
  if (rows.length === 0) return;
  const connection = (await (tx.client as { acquireConnection: () => Promise<unknown> }).acquireConnection()) as Client;
  await copyText(connection, `copy frames (${COLUMNS}) from stdin`, rows.map(copyLine).join(''));
}

/** Sends the rows of a COPY; resolves when they are stored. */
export async function copyText(connection: Client, statement: string, text: string): Promise<void> {
  const stream = connection.query(copyStreams.from(statement));
  stream.end(text);
  await finished(stream);
}

/**
 * Stores frames some of which may be there already. What is there stays; a row of an older attempt that holds the same
 * frame counts for the newer attempt from now on.
 * @returns what became of each frame, but for mere repeats
 */
export async function storeDoubtfulFrames(tx: Knex.Transaction, rows: FrameRow[]): Promise<Doubtful[]> {
  if (rows.length === 0) return [];
  const inserted = await insertMissingFrames(tx, rows);
  const isInserted = new Set(inserted.map(({ taskId, seq }) => `${taskId}/${seq}`));
  const present = rows.filter(({ taskId, seq }) => !isInserted.has(`${taskId}/${seq}`));
  return [...inserted, ...(await comparePresentFrames(tx, present))];
}

async function insertMissingFrames(tx: Knex.Transaction, rows: FrameRow[]): Promise<Doubtful[]> {
  const result = await tx.raw<{ rows: Doubtful[] }>(
    `insert into frames (${COLUMNS})
     select row.day, row."taskId", row.seq, row.attempt, row.position, row."frameTimeMs", row.width, row.height, row.objects
       from json_to_recordset(?::json) as row (day date, "taskId" uuid, seq int, attempt int, position bigint,
            "frameTimeMs" bigint, width int, height int, objects text)
     on conflict do nothing
     returning task_id as "taskId", seq, 'inserted' as outcome, attempt as "keptAttempt"`,
    [JSON.stringify(rows)],
  );
  return result.rows;
}

/** Frames whose numbers are taken: the same frame of an older attempt is adopted, another frame is told of. */
async function comparePresentFrames(tx: Knex.Transaction, rows: FrameRow[]): Promise<Doubtful[]> {
  if (rows.length === 0) return [];
  const result = await tx.raw<{ rows: Doubtful[] }>(
    `with told as (
       select * from json_to_recordset(?::json) as row
              (day date, "taskId" uuid, seq int, attempt int, "frameTimeMs" bigint, width int, height int)),
     compared as (
       select f.day, f.task_id, f.seq, f.attempt as kept, told.attempt,
              (f.frame_time_ms, f.width, f.height) = (told."frameTimeMs", told.width, told.height) as is_same
         from told join frames as f on f.day = told.day and f.task_id = told."taskId" and f.seq = told.seq),
     adopted as (
       update frames as f set attempt = c.attempt from compared as c
        where f.day = c.day and f.task_id = c.task_id and f.seq = c.seq and c.is_same and c.kept < c.attempt)
     select task_id as "taskId", seq, kept as "keptAttempt",
            case when is_same then 'adopted' else 'different' end as outcome
       from compared where not is_same or kept < attempt`,
    [JSON.stringify(rows)],
  );
  return result.rows;
}

/** How many frames of an attempt are stored in truth; for a long task this reads many rows. */
export async function countAttempt(
  tx: Knex.Transaction,
  { day, taskId, attempt }: { day: string; taskId: string; attempt: number },
): Promise<{ stored: number; first: number | null; last: number | null }> {
  await tx.raw(`set local statement_timeout = '60s'`);
  const result = await tx.raw<{ rows: [{ stored: number; first: number | null; last: number | null }] }>(
    `select count(*) as stored, min(seq) as first, max(seq) as last from frames
      where day = :day and task_id = :taskId and attempt = :attempt`,
    { day, taskId, attempt },
  );
  return result.rows[0];
}

export interface FrameRange {
  day: string;
  taskId: string;
  /** Places beyond this were not there when the page began. */
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

/** Notes frames that were stored after frames with larger numbers, so that readers find them without a search. */
export async function listLateFrames(tx: Knex.Transaction, rows: FrameRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx('late_frames').insert(rows.map(({ taskId, position, seq }) => ({ task_id: taskId, position, seq })));
}

/** Frames up to `seq` that were stored after `position`, in the order of storing, when all late frames are listed. */
export async function listedLateFrames(
  db: Knex,
  range: FrameRange,
  { seq, position }: { seq: number; position: number },
): Promise<StoredFrame[]> {
  const result = await db.raw<{ rows: StoredFrame[] }>(
    `select f.seq, f.position, f.frame_time_ms, f.width, f.height, f.objects
       from late_frames as l join frames as f on f.day = :day and f.task_id = l.task_id and f.seq = l.seq
      where l.task_id = :taskId and l.position > :position and l.position <= :upToPosition and l.seq <= :seq
      order by l.position limit :limit`,
    { ...range, seq, position },
  );
  return result.rows;
}

/** The same among all frames of the task: reads every frame up to `seq`. */
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

const COLUMNS = 'day, task_id, seq, attempt, position, frame_time_ms, width, height, objects';

/**
 * A row in the text format of COPY. JSON leaves two characters that it gives a meaning: the backslash, and the
 * break between objects.
 */
function copyLine(row: FrameRow): string {
  const objects = row.objects.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `${row.day}\t${row.taskId}\t${row.seq}\t${row.attempt}\t${row.position}\t${row.frameTimeMs}\t${row.width}\t${row.height}\t${objects}\n`;
}
