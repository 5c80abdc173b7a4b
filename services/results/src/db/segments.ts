import type { Knex } from 'knex';
import { decodeHeads } from '@vision/contracts/segments/head';
import type { FrameHead } from '@vision/contracts/segments/head';
import { factsOf, MAX_SPAN } from '../domain/segments/segment.ts';
import type { TimeRange } from '../domain/result-query.ts';
import type { EncodedSegment, SegmentFacts } from '../domain/segments/segment.ts';

/** A segment to be stored, with its objects here or in the object store. */
export interface NewSegment {
  day: string;
  taskId: string;
  facts: SegmentFacts;
  heads: Buffer;
  body: Buffer | undefined;
  objectKey: string | undefined;
  /** Size and checksum of the bytes that hold the objects. */
  bytes: number;
  checksum: number;
}

/** A segment as readers and writers find it. */
export interface FoundSegment {
  id: string;
  taskId: string;
  day: string;
  firstSeq: number;
  lastSeq: number;
  frames: number;
  revision: number;
  bestScore: number | null;
  firstTimeMs: number;
  lastTimeMs: number;
  /** In their JSON form; null when there are too many. */
  labels: string[] | null;
  body: Buffer | null;
  objectKey: string | null;
  bytes: number;
  checksum: number;
  /** Decoded on first access. */
  readonly heads: FrameHead[];
}

type SegmentRow = Omit<FoundSegment, 'heads'> & { packedHeads: Buffer };

const FOUND = `s.id, s.task_id as "taskId", s.day::text, s.first_seq as "firstSeq", s.last_seq as "lastSeq", s.frames,
  s.revision, s.best_score as "bestScore", s.first_time_ms as "firstTimeMs", s.last_time_ms as "lastTimeMs", s.labels,
  s.object_key as "objectKey", s.bytes, s.checksum, s.heads as "packedHeads"`;

const found = (rows: SegmentRow[]): FoundSegment[] =>
  rows.map(({ packedHeads, ...segment }) => {
    let heads: FrameHead[] | undefined;
    return {
      ...segment,
      get heads() {
        return (heads ??= decodeHeads(packedHeads));
      },
    };
  });

/** A segment after its insertion. */
export interface InsertedSegment {
  taskId: string;
  frames: number;
}

/**
 * Stores segments of any tasks in one statement. Their bytes are one parameter, sent unchanged; each row takes its
 * part.
 */
export async function insertSegments(tx: Knex.Transaction, segments: NewSegment[]): Promise<InsertedSegment[]> {
  if (segments.length === 0) return [];
  const parts: Buffer[] = [];
  let length = 0;
  const add = (bytes: Buffer) => {
    // PostgreSQL counts from 1.
    const at = length + 1;
    parts.push(bytes);
    length += bytes.length;
    return { at, length: bytes.length };
  };
  const rows = segments.map(({ facts, heads, body, ...rest }) => ({
    ...facts,
    ...rest,
    // PostgreSQL accepts no character 0, so labels are stored in their JSON form.
    labels: facts.labels?.map((label) => JSON.stringify(label).slice(1, -1)),
    heads: add(heads),
    body: body && add(body),
  }));
  const inserted = await tx.raw<{ rows: InsertedSegment[] }>(
    `insert into segments (day, task_id, first_seq, last_seq, first_position, last_position, first_time_ms, last_time_ms,
            frames, attempts, labels, best_score, heads, body, object_key, bytes, checksum)
     select day, "taskId", "firstSeq", "lastSeq", "firstPosition", "lastPosition", "firstTimeMs", "lastTimeMs",
            frames, attempts, labels, "bestScore",
            substring(parts from (heads ->> 'at')::int for (heads ->> 'length')::int),
            substring(parts from (body ->> 'at')::int for (body ->> 'length')::int), "objectKey", bytes, checksum
       from (select :parts::bytea as parts) as sent,
            json_to_recordset(:rows::json) as row (day date, "taskId" uuid, "firstSeq" int, "lastSeq" int,
            "firstPosition" bigint, "lastPosition" bigint, "firstTimeMs" bigint, "lastTimeMs" bigint, frames int,
            attempts jsonb, labels text[], "bestScore" double precision, heads json, body json, "objectKey" text,
            bytes int, checksum bigint)
     returning task_id as "taskId", frames`,
    { parts: Buffer.concat(parts, length), rows: JSON.stringify(rows) },
  );
  return inserted.rows;
}

export interface SegmentRange {
  day: string;
  taskId: string;
  /** Frames at later positions were not stored when the page began. */
  upToPosition: number;
}

/** The first segments that have numbers above this one, in the order of their first numbers. */
export async function segmentsAfter(
  db: Knex,
  { day, taskId, upToPosition }: SegmentRange,
  { seq, limit }: { seq: number; limit: number },
): Promise<FoundSegment[]> {
  const { rows } = await db.raw<{ rows: SegmentRow[] }>(
    `select ${FOUND}, s.body from segments as s
      where s.day = :day and s.task_id = :taskId and s.first_seq > :seq - ${MAX_SPAN} and s.last_seq > :seq
        and s.first_position <= :upToPosition
      order by s.first_seq, s.id limit :limit`,
    { day, taskId, upToPosition, seq, limit },
  );
  return found(rows);
}

/**
 * The same, beginning with the first one that may have frames of these times. If it is among the segments right after
 * `seq`, these are read in order, without a search.
 */
export async function segmentsAfterInTime(
  db: Knex,
  { day, taskId, upToPosition }: SegmentRange,
  { seq, times, limit }: { seq: number; times: TimeRange; limit: number },
): Promise<FoundSegment[]> {
  const inTime = 'last_time_ms >= :fromMs and first_time_ms < :toMs';
  const behind = 'day = :day and task_id = :taskId and last_seq > :seq';
  // The index of times finds cold segments; hot ones are few. Without `materialized` the planner reads all segments in
  // the order of their numbers to find the first one. `case` reads each only when it is needed.
  const { rows } = await db.raw<{ rows: SegmentRow[] }>(
    `with next as (select first_time_ms, last_time_ms from segments
                    where ${behind} and first_seq > :seq - ${MAX_SPAN} order by first_seq, id limit :limit),
          cold as materialized (select first_seq from segments where object_key is not null and ${behind} and ${inTime}),
          hot as materialized (select first_seq from segments where body is not null and ${behind} and ${inTime})
     select ${FOUND}, s.body from segments as s
      where s.day = :day and s.task_id = :taskId and s.last_seq > :seq and s.first_position <= :upToPosition
        and s.first_seq >= (select case when exists (select from next where ${inTime}) then :seq - ${MAX_SPAN} + 1
                                        else least((select min(first_seq) from cold), (select min(first_seq) from hot)) end)
      order by s.first_seq, s.id limit :limit`,
    { day, taskId, upToPosition, seq, ...times, limit },
  );
  return found(rows);
}

/** The next segments that may have frames of these times, in the order of their first numbers. */
export async function segmentsInTime(
  db: Knex,
  { day, taskId, upToPosition }: SegmentRange,
  { times, after, limit }: { times: TimeRange; after: { firstSeq: number; id: string }; limit: number },
): Promise<FoundSegment[]> {
  const inTime = `day = :day and task_id = :taskId and last_time_ms >= :fromMs and first_time_ms < :toMs
    and first_position <= :upToPosition`;
  // As in `segmentsAfterInTime`.
  const { rows } = await db.raw<{ rows: SegmentRow[] }>(
    `with cold as materialized (select first_seq, id from segments where object_key is not null and ${inTime}),
          hot as materialized (select first_seq, id from segments where body is not null and ${inTime}),
          next as (
            select first_seq, id from (select * from cold union select * from hot) as either
             where (first_seq, id) > (:firstSeq, :id::uuid) order by first_seq, id limit :limit)
     select ${FOUND}, s.body from next join segments as s using (first_seq, id)
      where s.day = :day and s.task_id = :taskId
      order by s.first_seq, s.id`,
    { day, taskId, upToPosition, ...times, ...after, limit },
  );
  return found(rows);
}

/** Frame numbers of one task. */
export interface AskedNumbers {
  day: string;
  taskId: string;
  seqs: number[];
}

/** Segments that may hold frames of these numbers. */
export async function segmentsAround(
  db: Knex,
  asked: AskedNumbers[],
  withBodies: 'with bodies' | 'heads only',
): Promise<FoundSegment[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.raw<{ rows: SegmentRow[] }>(
    `with asked as (
       select row.day, row."taskId", seq::int as seq from json_to_recordset(:asked::json) as row
              (day date, "taskId" uuid, seqs json), json_array_elements_text(row.seqs) as seq),
     around as (
       select distinct s.day, s.task_id, s.first_seq, s.id from asked join segments as s
           on s.day = asked.day and s.task_id = asked."taskId" and s.first_seq <= asked.seq
              and s.first_seq > asked.seq - ${MAX_SPAN} and s.last_seq >= asked.seq)
     select ${FOUND}, ${withBodies === 'with bodies' ? 's.body' : 'null as body'}
       from around join segments as s using (day, task_id, first_seq, id)`,
    { asked: JSON.stringify(asked) },
  );
  return found(rows);
}

/** Rewrites the heads of a segment after a newer attempt has taken over frames; its task is locked. */
export async function saveHeads(
  tx: Knex.Transaction,
  { id, day, taskId, firstSeq }: FoundSegment,
  heads: Buffer,
  changed: FrameHead[],
): Promise<void> {
  await tx.raw(
    `update segments set heads = :heads, attempts = :attempts, revision = revision + 1
      where day = :day and task_id = :taskId and first_seq = :firstSeq and id = :id`,
    { heads, attempts: JSON.stringify(factsOf(changed).attempts), day, taskId, firstSeq, id },
  );
}

/** A segment whose objects are stored beside its heads. */
export const inlineSegment = (
  { day, taskId }: { day: string; taskId: string },
  { facts, heads, body }: EncodedSegment,
  checksum: number,
): NewSegment => ({ day, taskId, facts, heads, body, objectKey: undefined, bytes: body.length, checksum });
