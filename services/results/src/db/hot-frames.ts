import type { Knex } from 'knex';
import { decodeHeads } from '@vision/contracts/segments/head';
import type { FrameHead } from '@vision/contracts/segments/head';
import type { FrameRow } from '../domain/plan-storing.ts';

/** A segment whose objects are still in the database. */
export interface HotSegment {
  id: string;
  firstSeq: number;
  revision: number;
  frames: number;
  /** Milliseconds since it was stored. */
  ageMs: number;
  heads: FrameHead[];
  body: Buffer;
}

/** The first hot segments of a task that are old enough, together at most `maxBytes` or a single segment. */
export async function hotSegments(
  db: Knex,
  { day, taskId, hotMs, maxBytes }: { day: string; taskId: string; hotMs: number; maxBytes: number },
): Promise<HotSegment[]> {
  const { rows } = await db.raw<{ rows: (Omit<HotSegment, 'heads'> & { packedHeads: Buffer })[] }>(
    `select id, first_seq as "firstSeq", revision, frames, heads as "packedHeads", body,
            (extract(epoch from now() - created_at) * 1000)::bigint as "ageMs"
       from (select id, first_seq, revision, frames, heads, body, created_at, bytes,
                    sum(bytes) over (order by first_seq, id) as bytes_up_to
               from (select id, first_seq, revision, frames, heads, body, created_at, bytes from segments
                      where day = :day and task_id = :taskId and body is not null
                        and created_at <= now() - make_interval(secs => :hotS)
                      order by first_seq, id limit 600) as first) as summed
      where bytes_up_to <= :maxBytes or bytes_up_to = bytes
      order by first_seq, id`,
    { day, taskId, hotS: hotMs / 1000, maxBytes },
  );
  return rows.map(({ packedHeads, ...segment }) => ({ ...segment, heads: decodeHeads(packedHeads) }));
}

/** A frame that is stored as a row. */
export interface HotRow extends Omit<FrameRow, 'objects' | 'isLive' | 'day' | 'taskId'> {
  objects: string;
}

/** The first frames of a task that are stored as rows, with at most `maxBytes` of objects or a single row. */
export async function firstRows(
  db: Knex,
  { day, taskId, limit, maxBytes }: { day: string; taskId: string; limit: number; maxBytes: number },
): Promise<HotRow[]> {
  const { rows } = await db.raw<{ rows: HotRow[] }>(
    `select seq, attempt, position, frame_time_ms as "frameTimeMs", width, height, objects
       from (select *, octet_length(objects) as bytes, sum(octet_length(objects)) over (order by seq) as bytes_up_to
               from (select seq, attempt, position, frame_time_ms, width, height, objects from frames
                      where day = :day and task_id = :taskId order by seq limit :limit) as first) as summed
      where bytes_up_to <= :maxBytes or bytes_up_to = bytes
      order by seq`,
    { day, taskId, limit, maxBytes },
  );
  return rows;
}

/** Removes hot segments if they are unchanged since they were read; returns whether all of them were. */
export async function deleteSegments(
  tx: Knex.Transaction,
  { day, taskId }: { day: string; taskId: string },
  segments: Pick<HotSegment, 'id' | 'firstSeq' | 'revision'>[],
): Promise<boolean> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `delete from segments as s using json_to_recordset(:segments::json) as row (id uuid, "firstSeq" int, revision int)
      where s.day = :day and s.task_id = :taskId and s.first_seq = row."firstSeq" and s.id = row.id
        and s.revision = row.revision`,
    {
      day,
      taskId,
      segments: JSON.stringify(segments.map(({ id, firstSeq, revision }) => ({ id, firstSeq, revision }))),
    },
  );
  return rowCount === segments.length;
}

/** Removes rows if they are unchanged since they were read; returns whether all of them were. */
export async function deleteRows(
  tx: Knex.Transaction,
  { day, taskId }: { day: string; taskId: string },
  frames: { seq: number; attempt: number }[],
): Promise<boolean> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `delete from frames as f using json_to_recordset(:frames::json) as row (seq int, attempt int)
      where f.day = :day and f.task_id = :taskId and f.seq = row.seq and f.attempt = row.attempt`,
    { day, taskId, frames: JSON.stringify(frames.map(({ seq, attempt }) => ({ seq, attempt }))) },
  );
  return rowCount === frames.length;
}

/** Whether a task has frames that are not in large segments. */
export async function hasHotFrames(db: Knex, day: string, taskId: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: [{ found: boolean }] }>(
    `select exists (select from segments where day = :day and task_id = :taskId and body is not null)
         or exists (select from frames where day = :day and task_id = :taskId) as found`,
    { day, taskId },
  );
  return rows[0].found;
}
