import type { Knex } from 'knex';
import { placeOfTrackSnapshot, TRACK_SNAPSHOT_PREFIX } from '@vision/contracts/track-snapshots';
import type { StoredSnapshot } from '../domain/track-snapshot.ts';
import type { TaskOfDay } from './deleted-tasks.ts';

const TABLE = 'track_snapshots';

/** The row of an image of a track. */
export interface SnapshotRow {
  track_id: string;
  attempt: number;
  n: number;
  seq: number;
  frame_time_ms: number;
  width: number;
  height: number;
  bytes: number;
  object_key: string | null;
  stored_at: Date;
}

export const SNAPSHOT_COLUMNS = [
  'track_id',
  'attempt',
  'n',
  'seq',
  'frame_time_ms',
  'width',
  'height',
  'bytes',
  'object_key',
  'stored_at',
] as const;

export const toStored = (row: SnapshotRow): StoredSnapshot => ({
  trackId: row.track_id,
  attempt: row.attempt,
  n: row.n,
  seq: row.seq,
  frameTimeMs: row.frame_time_ms,
  width: row.width,
  height: row.height,
  bytes: row.bytes,
  objectKey: row.object_key,
  storedAt: row.stored_at,
});

/** Images of these tracks, including expired ones, by track. */
export async function snapshotsOf(db: Knex, taskId: string, trackIds: string[]): Promise<Map<string, StoredSnapshot>> {
  if (trackIds.length === 0) return new Map();
  const { rows } = await db.raw<{ rows: SnapshotRow[] }>(
    `select ${SNAPSHOT_COLUMNS.join(', ')} from track_snapshots where task_id = :taskId and track_id = any(:trackIds::text[])`,
    { taskId, trackIds },
  );
  return new Map(rows.map((row) => [row.track_id, toStored(row)]));
}

/** The image of a track, locked until the end of the transaction. */
export async function lockSnapshot(
  tx: Knex,
  { taskId, trackId }: { taskId: string; trackId: string },
): Promise<StoredSnapshot | undefined> {
  const row = await tx(TABLE)
    .where({ task_id: taskId, track_id: trackId })
    .forUpdate()
    .first<SnapshotRow | undefined>(...SNAPSHOT_COLUMNS);
  return row && toStored(row);
}

/** Stores the image of a track in place of an older one. */
export async function saveSnapshot(
  tx: Knex,
  { day, taskId }: TaskOfDay,
  snapshot: Omit<StoredSnapshot, 'storedAt'>,
): Promise<void> {
  const { trackId, attempt, n, seq, frameTimeMs, width, height, bytes, objectKey } = snapshot;
  await tx.raw(
    `insert into track_snapshots as known
            (task_id, track_id, day, attempt, n, seq, frame_time_ms, width, height, bytes, object_key)
     values (:taskId, :trackId, :day, :attempt, :n, :seq, :frameTimeMs, :width, :height, :bytes, :objectKey)
     on conflict (task_id, track_id) do update
        set attempt = excluded.attempt, n = excluded.n, seq = excluded.seq, frame_time_ms = excluded.frame_time_ms,
            width = excluded.width, height = excluded.height, bytes = excluded.bytes,
            object_key = excluded.object_key, stored_at = vision_now()
      where (known.attempt, known.n) < (excluded.attempt, excluded.n)`,
    { day, taskId, trackId, attempt, n, seq, frameTimeMs, width, height, bytes, objectKey },
  );
}

/** Lists an object without a row; the sweep removes it from the store after its grace period. */
export async function listUnused(tx: Knex, { objectKey, day }: { objectKey: string; day: string }): Promise<void> {
  await tx('unindexed_objects').insert({ object_key: objectKey, day }).onConflict('object_key').ignore();
}

/** Lists an object of a deleted task; the next sweep removes it. */
export async function listDeleted(tx: Knex, { objectKey, day }: { objectKey: string; day: string }): Promise<void> {
  const row = { object_key: objectKey, day, noted_at: new Date(0) };
  await tx('unindexed_objects').insert(row).onConflict('object_key').merge(['noted_at']);
}

/** The index on the tasks of listed images is used where both expressions match it exactly. */
const OF_TASK = `starts_with(object_key, '${TRACK_SNAPSHOT_PREFIX}') and split_part(object_key, '/', -2) = :taskId`;

/** Objects with images of a task, whether they have a row or are listed as unused. */
export async function imagesOfTask(db: Knex, { taskId }: TaskOfDay, limit: number): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { key: string }[] }>(
    `(select object_key as key from track_snapshots where task_id = :taskId and object_key is not null limit :limit)
      union
     (select object_key from unindexed_objects where ${OF_TASK} limit :limit)`,
    { taskId, limit },
  );
  return rows.map(({ key }) => key);
}

/** Removes the rows of these images of a task, which are no longer in the store. */
export async function forgetImages(db: Knex, { taskId }: TaskOfDay, keys: string[]): Promise<void> {
  await db('unindexed_objects').whereIn('object_key', keys).delete();
  await db(TABLE).where({ task_id: taskId }).whereIn('object_key', keys).delete();
}

/** A page of the listed images of tasks of a day, after this key. */
export async function unusedImagesOfDay(
  db: Knex,
  day: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  return db('unindexed_objects')
    .where({ day })
    .where('object_key', '>', after)
    .whereRaw('starts_with(object_key, ?)', [TRACK_SNAPSHOT_PREFIX])
    .orderBy('object_key')
    .limit(limit)
    .pluck<string[]>('object_key');
}

/** Changes rows and lists their images as unused; `change` returns the keys of the objects and their days. */
async function listImages(db: Knex, change: string, values: Record<string, unknown>): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ changed: number }] }>(
    `with changed as (${change}),
     listed as (
       insert into unindexed_objects (object_key, day)
       select object_key, day from changed where object_key is not null on conflict do nothing)
     select count(*)::int as changed from changed`,
    values,
  );
  return rows[0].changed;
}

/** Removes images of a deleted task, `limit` at most; returns their number. */
export const removeSnapshots = (db: Knex, { taskId }: TaskOfDay, limit: number): Promise<number> =>
  listImages(
    db,
    `delete from track_snapshots where task_id = :taskId and track_id in (
       select track_id from track_snapshots where task_id = :taskId order by track_id limit :limit)
     returning object_key, day`,
    { taskId, limit },
  );

/** Removes the rows of tasks with smaller ids, with their images; returns their number. */
export const removeSnapshotsBelow = (db: Knex, taskId: string, limit: number): Promise<number> =>
  listImages(
    db,
    `delete from track_snapshots where (task_id, track_id) in (
       select task_id, track_id from track_snapshots where task_id < :taskId order by task_id, track_id limit :limit)
     returning object_key, day`,
    { taskId, limit },
  );

/** Removes images that were stored this many days ago; their rows stay. Returns their number. */
export const expireSnapshots = (db: Knex, days: number, limit: number): Promise<number> =>
  listImages(
    db,
    `update track_snapshots as s set object_key = null
       from (select task_id, track_id, object_key, day from track_snapshots
              where object_key is not null and stored_at <= vision_now() - make_interval(days => :days)
              order by stored_at limit :limit for update) as due
      where s.task_id = due.task_id and s.track_id = due.track_id
     returning due.object_key, due.day`,
    { days, limit },
  );

/** Returns those of these objects that the database does not know. */
export async function findUnknownImages(db: Knex, keys: string[]): Promise<string[]> {
  const asked = keys.map((key) => ({ key, ...placeOfTrackSnapshot(key) }));
  const { rows } = await db.raw<{ rows: { key: string }[] }>(
    `select asked.key
       from json_to_recordset(:asked::json) as asked (key text, "taskId" uuid, "trackId" text)
      where not exists (select from track_snapshots as s
                         where s.task_id = asked."taskId" and s.track_id = asked."trackId" and s.object_key = asked.key)
        and not exists (select from unindexed_objects as u where u.object_key = asked.key)`,
    { asked: JSON.stringify(asked) },
  );
  return rows.map(({ key }) => key);
}

/** A page of the images that have an object, task by task; `after` is `<task_id>/<track_id>`. */
export async function snapshotsToScan(
  db: Knex,
  { after, limit }: { after: string; limit: number },
): Promise<{ taskId: string; objectKey: string; cursor: string }[]> {
  const query = db(TABLE)
    .whereNotNull('object_key')
    .orderBy(['task_id', 'track_id'])
    .limit(limit)
    .select('task_id as taskId', 'object_key as objectKey', db.raw(`task_id || '/' || track_id as cursor`));
  if (after !== '') query.whereRaw('(task_id, track_id) > (?::uuid, ?)', after.split('/'));
  return query;
}

/** Records which database wrote objects with this key prefix, so that only objects of this installation are removed. */
export async function noteWriter(tx: Knex, name: string, id: string): Promise<void> {
  await tx('bucket_owner').insert({ name, id }).onConflict('name').ignore();
}

/** The database whose prefix images have; undefined before the first image. */
export async function writerOf(db: Knex, name: string): Promise<string | undefined> {
  return (await db('bucket_owner').where({ name }).first<{ id: string } | undefined>('id'))?.id;
}
