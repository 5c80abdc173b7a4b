import type { Knex } from 'knex';
import type { Ingest } from '../domain/plan-storing.ts';

/**
 * Locks the rows of these tasks until the end of the transaction, making them first; always in one order,
 * so nobody deadlocks.
 */
export async function lockIngests(tx: Knex.Transaction, taskIds: string[]): Promise<Map<string, Ingest>> {
  const ordered = taskIds.toSorted();
  await tx.raw('insert into ingests (task_id) select unnest(?::uuid[]) on conflict do nothing', [ordered]);
  const rows = await tx('ingests')
    .whereIn('task_id', ordered)
    .orderBy('task_id')
    .forUpdate()
    .select<Ingest[]>('task_id', 'attempt', 'stored', 'position', 'max_seq', 'late_position', 'end_status');
  return new Map(rows.map((row) => [row.task_id, row]));
}

/** Frames of a task that can be read. */
export async function countStored(db: Knex, taskId: string): Promise<number> {
  const row = await db<Ingest>('ingests').where({ task_id: taskId }).first('stored');
  return row?.stored ?? 0;
}

/** Frames of these tasks that can be read. */
export async function countStoredOf(db: Knex, taskIds: string[]): Promise<[string, number][]> {
  const rows = await db<Ingest>('ingests').whereIn('task_id', taskIds).select('task_id', 'stored');
  return rows.map((row) => [row.task_id, row.stored]);
}

export async function saveIngests(tx: Knex.Transaction, ingests: Ingest[]): Promise<void> {
  await tx.raw(
    `update ingests as i
        set attempt = n.attempt, stored = n.stored, position = n.position, max_seq = n.max_seq,
            late_position = n.late_position, end_status = n.end_status,
            ended_at = case when n.end_status is null then null else coalesce(i.ended_at, vision_now()) end
       from json_populate_recordset(null::ingests, ?::json) as n
      where i.task_id = n.task_id`,
    [JSON.stringify(ingests)],
  );
}
