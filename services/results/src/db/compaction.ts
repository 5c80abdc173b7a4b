import type { Knex } from 'knex';

/** Schedules the next compaction of a task `ms` from now; undefined: when more of its frames are stored. */
export async function setCompaction(tx: Knex.Transaction, taskId: string, ms: number | undefined): Promise<void> {
  const at = ms === undefined ? null : tx.raw('now() + make_interval(secs => ?)', [ms / 1000]);
  await tx('ingests').where({ task_id: taskId }).update({ compact_at: at });
}

/**
 * Makes tasks due whose frames are rows. A task with late frames that an earlier release did not list keeps its rows,
 * because such frames are searched among rows.
 */
export async function makeDue(db: Knex, taskIds: string[]): Promise<void> {
  await db('ingests')
    .whereIn('task_id', taskIds)
    .whereNull('compact_at')
    .whereRaw('late_listed = late_position')
    .update({ compact_at: db.raw('now()') });
}

/** A task among those of a day. */
export interface TaskOfDay {
  day: string;
  taskId: string;
}

/** For each of these days, the next task after this one that has rows. */
export async function nextTasksWithRows(db: Knex, after: TaskOfDay[]): Promise<TaskOfDay[]> {
  const { rows } = await db.raw<{ rows: TaskOfDay[] }>(
    `select seen.day::text as day, next.task_id as "taskId"
       from unnest(:days::date[], :taskIds::uuid[]) as seen (day, task_id)
       cross join lateral (
         select f.task_id from frames as f
          where f.day = seen.day and f.task_id > seen.task_id
          order by f.task_id limit 1) as next`,
    { days: after.map(({ day }) => day), taskIds: after.map(({ taskId }) => taskId) },
  );
  return rows;
}
