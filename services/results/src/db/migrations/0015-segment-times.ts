import type { Knex } from 'knex';
import type { Migration } from '@vision/shared/db/migrate';

const INDEX = 'segments_times';
const COLUMNS =
  '(task_id, last_time_ms, first_time_ms, last_seq) include (first_seq, day) where object_key is not null';
const UNDEFINED_TABLE = '42P01';

/**
 * `segments_times`: finds the segments in the object store whose frames are of some time, without reading their rows.
 * PostgreSQL makes no index of a partitioned table concurrently. So the parent gets one that new partitions take over,
 * and the partitions that are there get theirs one by one.
 */
export const segmentTimes: Migration = {
  name: '0015-segment-times',
  config: { transaction: false },
  up: async (db) => {
    await db.raw(`create index if not exists ${INDEX} on only segments ${COLUMNS}`);
    for (const partition of await partitionsWithout(db)) {
      const name = `${partition}_times`;
      try {
        // What is left of an attempt that was interrupted is not valid.
        await db.raw('drop index concurrently if exists ??', [name]);
        await db.raw(`create index concurrently ?? on ?? ${COLUMNS}`, [name, partition]);
        await db.raw(`alter index ${INDEX} attach partition ??`, [name]);
      } catch (error) {
        // Retention dropped the day meanwhile.
        if ((error as { code?: string }).code !== UNDEFINED_TABLE) throw error;
      }
    }
  },
  down: async (db) => {
    await db.raw(`drop index if exists ${INDEX}`);
  },
};

/** The partitions that have no part of the index. */
async function partitionsWithout(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select c.relname as name from pg_inherits as i join pg_class as c on c.oid = i.inhrelid
      where i.inhparent = 'segments'::regclass and not exists (
        select from pg_index as x join pg_inherits as part on part.inhrelid = x.indexrelid
         where x.indrelid = c.oid and part.inhparent = '${INDEX}'::regclass)
      order by c.relname`,
  );
  return rows.map(({ name }) => name);
}
