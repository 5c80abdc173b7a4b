import type { Knex } from 'knex';

/** Tables with a partition for each day. */
export const dayTables = ['frames', 'segments', 'tracks', 'timeline_hours'] as const;
export type DayTable = (typeof dayTables)[number];

/** Name of the partition of a day (`YYYY-MM-DD`). */
const partitionOf = (table: DayTable, day: string) => `${table}_${day.replaceAll('-', '')}`;

/** Today in UTC, by the clock that decides about expiry. */
export async function today(db: Knex): Promise<string> {
  const result = await db.raw<{ rows: { day: string }[] }>(
    `select (vision_now() at time zone 'UTC')::date::text as day`,
  );
  return result.rows[0]?.day ?? '';
}

/** The days that have a partition, oldest first. */
export async function partitionDays(db: Knex, table: DayTable): Promise<string[]> {
  const result = await db.raw<{ rows: { name: string }[] }>(
    `select c.relname as name from pg_inherits as i join pg_class as c on c.oid = i.inhrelid
      where i.inhparent = ?::regclass order by c.relname`,
    [table],
  );
  return result.rows.map(({ name }) => name.replace(/^[a-z_]+_(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'));
}

/** Makes the partitions of a day where they are missing. */
export async function addPartitions(tx: Knex.Transaction, day: string): Promise<void> {
  await tx.raw(`select pg_advisory_xact_lock(hashtextextended('frames-partitions', 0))`);
  for (const table of dayTables) await addPartition(tx, table, day);
}

/**
 * Creates one of them unless it exists. The table is created first and attached then, so readers and writers of other
 * days do not wait (creating it as a partition would lock all of them). The advisory lock of the caller prevents
 * replicas from creating it twice.
 */
async function addPartition(tx: Knex.Transaction, table: DayTable, day: string): Promise<void> {
  const name = partitionOf(table, day);
  if ((await partitionDays(tx, table)).includes(day)) return;
  // The target keeps a row of up to 8 kB inside its page instead of moving its objects out at 2 kB.
  await tx.raw('create table ?? (like ?? including all) with (toast_tuple_target = 8160)', [name, table]);
  await tx.raw(`alter table ?? add constraint ?? check (day = '${day}')`, [name, `${name}_day`]);
  await tx.raw(`alter table ?? attach partition ?? for values in ('${day}')`, [table, name]);
}

/**
 * Prevents further writes to the partition of a day; writes in progress are complete, or fail. Waits as `dropPartition`
 * does.
 */
export async function closePartition(tx: Knex.Transaction, table: DayTable, day: string): Promise<void> {
  const name = partitionOf(table, day);
  const constraint = `${name}_closed`;
  await tx.raw(`set local lock_timeout = '1s'`);
  await tx.raw('alter table if exists ?? drop constraint if exists ??, add constraint ?? check (false) not valid', [
    name,
    constraint,
    constraint,
  ]);
}

/** Drops the partition of a day. The lock timeout of the transaction bounds how long the wait can block readers. */
export async function dropPartition(tx: Knex.Transaction, table: DayTable, day: string): Promise<void> {
  await tx.raw(`set local lock_timeout = '1s'`);
  // Two concurrent drops of one partition fail inside PostgreSQL; under the lock the second one finds nothing to drop.
  await tx.raw(`select pg_advisory_xact_lock(hashtext('drop-partition'))`);
  await tx.raw('drop table if exists ??', [partitionOf(table, day)]);
}

/** Removes other data of tasks with smaller ids (created earlier), `batch` rows at a time; returns their number. */
export async function deleteIngestsBelow(db: Knex, taskId: string, batch: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from ingests where task_id in (select task_id from ingests where task_id < :taskId order by task_id limit :batch)`,
    { taskId, batch },
  );
  return result.rowCount;
}

/** Removes the listed late frames of tasks with smaller ids; returns their number. */
export async function deleteLateFramesBelow(db: Knex, taskId: string, batch: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from late_frames where (task_id, position) in (
       select task_id, position from late_frames where task_id < :taskId order by task_id, position limit :batch)`,
    { taskId, batch },
  );
  return result.rowCount;
}

/** Removes views whose results expired more than a day ago; returns their number. */
export async function deleteExpiredViews(db: Knex, batch: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from task_views where task_id in (
       select task_id from task_views where result_expires_at < vision_now() - interval '1 day' order by result_expires_at limit :batch)`,
    { batch },
  );
  return result.rowCount;
}
