import type { Knex } from 'knex';
import type { PackedHour } from '../domain/fold/codec.ts';

interface TaskOfDay {
  day: string;
  taskId: string;
}

/** Stored hours of a task, those that begin at these times. */
export async function findHours(db: Knex, { day, taskId }: TaskOfDay, hours: number[]): Promise<PackedHour[]> {
  if (hours.length === 0) return [];
  return db('timeline_hours')
    .where({ day, task_id: taskId })
    .whereIn('hour_ms', hours)
    .select('hour_ms as hourMs', 'coverage', 'totals', 'minutes');
}

/** Writes hours, each instead of what was stored of it; the fold of the task is locked. */
export async function saveHours(tx: Knex.Transaction, task: TaskOfDay, hours: PackedHour[]): Promise<void> {
  for (const { hourMs, ...packed } of hours)
    await tx('timeline_hours')
      .insert({ day: task.day, task_id: task.taskId, hour_ms: hourMs, ...packed })
      .onConflict(['task_id', 'hour_ms', 'day'])
      .merge();
}

/** An hour as a timeline reads it; minutes of labels are null when they are not needed. */
export type ReadHour = Omit<PackedHour, 'minutes'> & { minutes: Buffer | null };

/** Stored hours that begin in this time, in order. */
export async function hoursBetween(
  db: Knex,
  { day, taskId }: TaskOfDay,
  { fromMs, toMs, withMinutes }: { fromMs: number; toMs: number; withMinutes: boolean },
): Promise<ReadHour[]> {
  const { rows } = await db.raw<{ rows: ReadHour[] }>(
    `select hour_ms as "hourMs", coverage, totals, ${withMinutes ? 'minutes' : 'null as minutes'} from timeline_hours
      where day = :day and task_id = :taskId and hour_ms >= :fromMs and hour_ms < :toMs
      order by hour_ms`,
    { day, taskId, fromMs, toMs },
  );
  return rows;
}

export async function deleteHours(tx: Knex.Transaction, { day, taskId }: TaskOfDay): Promise<void> {
  await tx('timeline_hours').where({ day, task_id: taskId }).delete();
}
