import type { Knex } from 'knex';
import type { ObjectPage } from '@vision/shared/audit/audit-objects';

/** Only objects younger than this may become part of a segment; the sweep waits six times as long. */
const USABLE = `interval '10 minutes'`;
const ABANDONED = `interval '1 hour'`;

/** Lists an object before it is sent, so that it is found if its segment is never stored. */
export async function noteObject(db: Knex, { objectKey, day }: { objectKey: string; day: string }): Promise<void> {
  await db('unindexed_objects').insert({ object_key: objectKey, day });
}

/**
 * Removes an object from the list, because its segment is stored in this transaction. Returns false when it is no
 * longer listed or was listed too long ago: the sweep may have removed it already.
 */
export async function takeNoted(tx: Knex.Transaction, objectKey: string): Promise<boolean> {
  const taken = await tx('unindexed_objects')
    .where({ object_key: objectKey })
    .whereRaw(`noted_at > now() - ${USABLE}`)
    .delete();
  return taken === 1;
}

/** Objects that were sent this long ago and can no longer become part of a segment. */
export async function abandonedObjects(
  db: Knex,
  { limit, graceMs }: { limit: number; graceMs: number },
): Promise<string[]> {
  return db('unindexed_objects')
    .whereRaw(`noted_at < now() - greatest(${ABANDONED}, make_interval(secs => ?))`, [graceMs / 1000])
    .orderBy('noted_at')
    .limit(limit)
    .pluck<string[]>('object_key');
}

/** Removes the list entries of deleted objects. */
export async function forgetObjects(db: Knex, keys: string[]): Promise<void> {
  await db('unindexed_objects').whereIn('object_key', keys).delete();
}

/** Whether the object store has, or may have, an object of this day. */
export async function hasObjects(db: Knex, day: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: [{ found: boolean }] }>(
    `select exists (select from segments where day = :day and object_key is not null)
         or exists (select from unindexed_objects where day = :day) as found`,
    { day },
  );
  return rows[0].found;
}

/** A page of the known objects of a day, after this key. */
export async function objectsOfDay(
  db: Knex,
  day: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { object_key: string }[] }>(
    `select object_key from segments where day = :day and object_key > :after
      union
     select object_key from unindexed_objects where day = :day and object_key > :after
      order by object_key limit :limit`,
    { day, after, limit },
  );
  return rows.map((row) => row.object_key);
}

/** Returns those of these objects that the database does not know. */
export async function findUnknownObjects(
  db: Knex,
  objects: { day: string; taskId: string; objectKey: string }[],
): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { key: string }[] }>(
    `select "objectKey" as key
       from json_to_recordset(?::json) as asked (day date, "taskId" uuid, "objectKey" text)
      where not exists (select from segments as s
                         where s.day = asked.day and s.task_id = asked."taskId" and s.object_key = asked."objectKey")
        and not exists (select from unindexed_objects as u where u.object_key = asked."objectKey")`,
    [JSON.stringify(objects)],
  );
  return rows.map((row) => row.key);
}

/** A segment whose objects are in the object store. */
export interface StoredObject {
  taskId: string;
  objectKey: string;
}

/** A segment with the instant at which its object was stored. */
export interface DatedSegment extends StoredObject {
  at: string;
}

/** A page of the segments that got an object in this period. */
export async function objectsMade(
  db: Knex,
  { window: { from, to }, after, limit }: ObjectPage<DatedSegment>,
): Promise<DatedSegment[]> {
  const query = db('segments')
    .whereNotNull('object_key')
    .where('created_at', '>=', from)
    .where('created_at', '<=', to)
    .orderBy(['created_at', 'object_key'])
    .limit(limit)
    .select('task_id as taskId', 'object_key as objectKey', db.raw('created_at::text as at'));
  if (after) query.whereRaw('(created_at, object_key) > (?::timestamptz, ?)', [after.at, after.objectKey]);
  return query;
}

/** A page of the segments whose object was sent, task by task; `after` is `<task_id>/<first number>/<id>`. */
export async function segmentsToScan(
  db: Knex,
  { after, limit }: { after: string; limit: number },
): Promise<(StoredObject & { cursor: string })[]> {
  const [taskId = '', firstSeq = '', id = ''] = after.split('/');
  const query = db('segments')
    .whereNotNull('object_key')
    .orderBy(['task_id', 'first_seq', 'id'])
    .limit(limit)
    .select(
      'task_id as taskId',
      'object_key as objectKey',
      db.raw(`task_id || '/' || first_seq || '/' || id as cursor`),
    );
  if (after !== '') query.whereRaw('(task_id, first_seq, id) > (?::uuid, ?::int, ?::uuid)', [taskId, firstSeq, id]);
  return query;
}

/** Returns those of these that are still objects of segments. */
export async function stillIndexed(db: Knex, objects: (StoredObject & { day: string })[]): Promise<StoredObject[]> {
  const { rows } = await db.raw<{ rows: StoredObject[] }>(
    `select s.task_id as "taskId", s.object_key as "objectKey"
       from json_to_recordset(?::json) as asked (day date, "taskId" uuid, "objectKey" text)
       join segments as s on s.day = asked.day and s.task_id = asked."taskId" and s.object_key = asked."objectKey"`,
    [JSON.stringify(objects)],
  );
  return rows;
}
