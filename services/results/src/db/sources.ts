import type { Knex } from 'knex';
import type { SourceChangedData } from '@vision/contracts/job-events';
import type { SourceRecord } from '../domain/describe-source.ts';
import type { SourceState } from '../domain/gap-reasons.ts';
import type { Source } from '../domain/source.ts';

/** The source of a task, locked until the end of the transaction; undefined when the backend has not reported one. */
export async function lockSource(tx: Knex, taskId: string): Promise<Source | undefined> {
  return tx<Source & { task_id: string }>('sources')
    .where({ task_id: taskId })
    .forUpdate()
    .first('snapshot', 'earlier', 'states');
}

/** Stores a source unless a newer snapshot is stored. */
export async function saveSource(tx: Knex, { snapshot, earlier, states }: Source): Promise<void> {
  await tx.raw(
    `insert into sources as known (task_id, attempt, n, snapshot, earlier, states)
     values (:taskId, :attempt, :n, :snapshot, :earlier, :states)
     on conflict (task_id) do update
        set attempt = excluded.attempt, n = excluded.n, snapshot = excluded.snapshot, earlier = excluded.earlier,
            states = excluded.states, updated_at = now()
      where (known.attempt, known.n) < (excluded.attempt, excluded.n)`,
    {
      taskId: snapshot.job_id,
      attempt: snapshot.attempt,
      n: snapshot.n,
      snapshot: JSON.stringify(snapshot),
      earlier: JSON.stringify(earlier),
      states,
    },
  );
}

/** Adds the state of a snapshot, which began at that time, to the list. */
export async function listState(tx: Knex, snapshot: SourceChangedData, atMs: number): Promise<void> {
  const { job_id: taskId, attempt, n, state, reason } = snapshot;
  await tx('source_states')
    .insert({ task_id: taskId, attempt, n, at_ms: atMs, state, reason: reason ?? null })
    .onConflict()
    .ignore();
}

/**
 * Removes the `most` shortest states among the `among` oldest ones of a task, so that long outages stay listed; returns
 * their number. The first one stays.
 */
export async function mergeStates(
  tx: Knex,
  taskId: string,
  { among, most }: { among: number; most: number },
): Promise<number> {
  const result = await tx.raw<{ rowCount: number }>(
    `with older as (
       select attempt, n, lead(at_ms) over places - at_ms as held, row_number() over places as place
         from source_states where task_id = :taskId
       window places as (order by attempt, n)
        order by attempt, n limit :among)
     delete from source_states where task_id = :taskId and (attempt, n) in (
       select attempt, n from older where place > 1 order by held nulls last, attempt, n limit :most)`,
    { taskId, among, most },
  );
  return result.rowCount;
}

/** Removes the sources of tasks with smaller ids; returns the number of rows. */
export async function deleteSourcesBelow(db: Knex, taskId: string, batch: number): Promise<number> {
  const states = await db.raw<{ rowCount: number }>(
    `delete from source_states where (task_id, attempt, n) in (
       select task_id, attempt, n from source_states where task_id < :taskId order by task_id limit :batch)`,
    { taskId, batch },
  );
  const sources = await db.raw<{ rowCount: number }>(
    `delete from sources where task_id in (
       select task_id from sources where task_id < :taskId order by task_id limit :batch)`,
    { taskId, batch },
  );
  return Math.max(states.rowCount, sources.rowCount);
}

/** Stored facts of a task and its source; undefined for an unknown task. */
export async function findSourceRecord(db: Knex, taskId: string): Promise<SourceRecord | undefined> {
  const result = await db.raw<{ rows: SourceRecord[] }>(
    `select v.kind, v.status, v.reason, (extract(epoch from v.ended_at) * 1000)::bigint as "endedAtMs",
            coalesce(i.stored, 0) as stored, coalesce(i.max_seq, -1) as "maxSeq",
            coalesce(i.position, 0) as position,
            case when s.task_id is null then null
                 else jsonb_build_object('snapshot', s.snapshot, 'earlier', s.earlier, 'states', s.states) end as source,
            (extract(epoch from now() - s.updated_at) * 1000)::double precision as "ageMs",
            (extract(epoch from now()) * 1000)::bigint as "nowMs"
       from task_views as v
       left join ingests as i on i.task_id = v.task_id
       left join sources as s on s.task_id = v.task_id
      where v.task_id = :taskId`,
    { taskId },
  );
  return result.rows[0];
}

/** States of a source before attempt and number, newest first. */
export async function listStates(
  db: Knex,
  taskId: string,
  { after, limit }: { after: [attempt: number, n: number] | undefined; limit: number },
): Promise<SourceState[]> {
  const query = db('source_states')
    .where({ task_id: taskId })
    .orderBy([
      { column: 'attempt', order: 'desc' },
      { column: 'n', order: 'desc' },
    ])
    .limit(limit)
    .select<SourceState[]>('attempt', 'n', 'at_ms', 'state', 'reason');
  if (after) query.whereRaw('(attempt, n) < (?, ?)', after);
  return query;
}
