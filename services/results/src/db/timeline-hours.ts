import type { Knex } from 'knex';
import type { PackedHour } from '../domain/fold/hour-codec.ts';

interface TaskOfDay {
  day: string;
  taskId: string;
}

/** Stored hours of a task that begin at these times. */
export async function findHours(db: Knex, { day, taskId }: TaskOfDay, hours: number[]): Promise<PackedHour[]> {
  if (hours.length === 0) return [];
  return db('timeline_hours')
    .where({ day, task_id: taskId })
    .whereIn('hour_ms', hours)
    .select('hour_ms as hourMs', 'coverage', 'totals', 'minutes');
}

/** Writes hours, each replacing the stored one; the fold of the task is locked. */
export async function saveHours(tx: Knex.Transaction, task: TaskOfDay, hours: PackedHour[]): Promise<void> {
  for (const { hourMs, ...packed } of hours)
    await tx('timeline_hours')
      .insert({ day: task.day, task_id: task.taskId, hour_ms: hourMs, ...packed })
      .onConflict(['task_id', 'hour_ms', 'day'])
      .merge();
}

/** Stored hours that begin in this period, in order. */
export async function hoursBetween(
  db: Knex,
  { day, taskId }: TaskOfDay,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<PackedHour[]> {
  const { rows } = await db.raw<{ rows: PackedHour[] }>(
    `select hour_ms as "hourMs", coverage, totals, minutes from timeline_hours ${BETWEEN}`,
    { day, taskId, fromMs, toMs },
  );
  return rows;
}

/**
 * The same without the data of their minutes. The hours of three months come as one row: as separate rows they take as
 * long to arrive as to decode.
 */
export async function totalsBetween(
  db: Knex,
  { day, taskId }: TaskOfDay,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<Pick<PackedHour, 'hourMs' | 'totals'>[]> {
  const { rows } = await db.raw<{ rows: [{ hours: [hourMs: number, bytes: number][] | null; totals: Buffer }] }>(
    `select json_agg(json_build_array(hour_ms, octet_length(totals))) as hours, string_agg(totals, '') as totals
       from (select hour_ms, totals from timeline_hours ${BETWEEN}) as in_order`,
    { day, taskId, fromMs, toMs },
  );
  const [{ hours, totals }] = rows;
  let end = 0;
  return (hours ?? []).map(([hourMs, bytes]) => ({ hourMs, totals: totals.subarray(end, (end += bytes)) }));
}

const BETWEEN = `where day = :day and task_id = :taskId and hour_ms >= :fromMs and hour_ms < :toMs order by hour_ms`;

/** Frames and seconds of the minutes of stored hours that begin at these times. */
export async function coverageOfHours(
  db: Knex,
  { day, taskId }: TaskOfDay,
  hours: number[],
): Promise<Pick<PackedHour, 'hourMs' | 'coverage'>[]> {
  if (hours.length === 0) return [];
  const { rows } = await db.raw<{ rows: Pick<PackedHour, 'hourMs' | 'coverage'>[] }>(
    `select hour_ms as "hourMs", coverage from timeline_hours
      where day = :day and task_id = :taskId and hour_ms = any(:hours::bigint[])`,
    { day, taskId, hours },
  );
  return rows;
}

/** The same, with the revision of the fold that they belong to, as of one instant. */
export async function coverageOfFold(
  db: Knex,
  { day, taskId }: TaskOfDay,
  hours: number[],
): Promise<{ revision: number; hours: Pick<PackedHour, 'hourMs' | 'coverage'>[] }> {
  const { rows } = await db.raw<{ rows: { revision: number; hourMs: number | null; coverage: Buffer }[] }>(
    `select fold.revision, h.hour_ms as "hourMs", h.coverage
       from (select coalesce((select revision from folds where task_id = :taskId), 0) as revision) as fold
       left join timeline_hours as h on h.day = :day and h.task_id = :taskId and h.hour_ms = any(:hours::bigint[])`,
    { day, taskId, hours },
  );
  const found = rows.flatMap(({ hourMs, coverage }) => (hourMs === null ? [] : [{ hourMs, coverage }]));
  return { revision: rows[0]?.revision ?? 0, hours: found };
}
