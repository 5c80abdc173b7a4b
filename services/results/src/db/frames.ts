import type { Knex } from 'knex';
import type { Client } from 'pg';
import copyStreams from 'pg-copy-streams';
import { finished } from 'node:stream/promises';
import type { FramePlace, FrameRow } from '../domain/plan-storing.ts';

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

/** Stores frames some of which may be there already; returns those that were not. */
export async function insertMissingFrames(tx: Knex.Transaction, rows: FrameRow[]): Promise<FramePlace[]> {
  if (rows.length === 0) return [];
  const result = await tx.raw<{ rows: FramePlace[] }>(
    `insert into frames (${COLUMNS})
     select row.day, row."taskId", row.seq, row.attempt, row.position, row."frameTimeMs", row.width, row.height, row.objects
       from json_to_recordset(?::json) as row (day date, "taskId" uuid, seq int, attempt int, position bigint,
            "frameTimeMs" bigint, width int, height int, objects text)
     on conflict do nothing returning task_id as "taskId", position`,
    [JSON.stringify(rows)],
  );
  return result.rows;
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

/** Frames up to `seq` that were stored after `position`, in the order of storing. */
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
