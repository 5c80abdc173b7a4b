import type { Knex } from 'knex';
import type { Window } from '@vision/shared/audit/differences';

/** Objects younger than this may become part of a segment, and only those: the sweep waits six times as long. */
const USABLE = `interval '10 minutes'`;
const ABANDONED = `interval '1 hour'`;

/** Notes an object before it is sent, so that it is found when its segment never comes into being. */
export async function noteObject(db: Knex, { objectKey, day }: { objectKey: string; day: string }): Promise<void> {
  await db('unindexed_objects').insert({ object_key: objectKey, day });
}

/**
 * Takes an object off the list, because its segment is stored in this transaction. False when it is on the list no
 * longer or was noted too long ago: then the sweep may have removed it already.
 */
export async function takeNoted(tx: Knex.Transaction, objectKey: string): Promise<boolean> {
  const taken = await tx('unindexed_objects')
    .where({ object_key: objectKey })
    .whereRaw(`noted_at > now() - ${USABLE}`)
    .delete();
  return taken === 1;
}

/** Objects that no segment will ever have. */
export async function abandonedObjects(db: Knex, limit: number): Promise<string[]> {
  return db('unindexed_objects')
    .whereRaw(`noted_at < now() - ${ABANDONED}`)
    .orderBy('noted_at')
    .limit(limit)
    .pluck<string[]>('object_key');
}

/** Forgets objects that were removed. */
export async function forgetObjects(db: Knex, keys: string[]): Promise<void> {
  await db('unindexed_objects').whereIn('object_key', keys).delete();
}

/** Whether anything of this day is, or may be, in the object store. */
export async function hasObjects(db: Knex, day: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: [{ found: boolean }] }>(
    `select exists (select from segments where day = :day and object_key is not null)
         or exists (select from unindexed_objects where day = :day) as found`,
    { day },
  );
  return rows[0].found;
}

/** A segment whose objects are in the object store. */
export interface StoredObject {
  taskId: string;
  objectKey: string;
}

/** Segments that got an object in this time. */
export async function objectsMade(db: Knex, { from, to }: Window): Promise<StoredObject[]> {
  return db('segments')
    .whereNotNull('object_key')
    .where('created_at', '>', from)
    .where('created_at', '<=', to)
    .select('task_id as taskId', 'object_key as objectKey');
}

/** Those of these that are objects of segments still. */
export async function stillIndexed(db: Knex, objects: (StoredObject & { day: string })[]): Promise<StoredObject[]> {
  const { rows } = await db.raw<{ rows: StoredObject[] }>(
    `select s.task_id as "taskId", s.object_key as "objectKey"
       from json_to_recordset(?::json) as asked (day date, "taskId" uuid, "objectKey" text)
       join segments as s on s.day = asked.day and s.task_id = asked."taskId" and s.object_key = asked."objectKey"`,
    [JSON.stringify(objects)],
  );
  return rows;
}
