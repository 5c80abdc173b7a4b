import type { Knex } from 'knex';
import type { EventType, LoggedEvent, NewEvent } from '../domain/event.ts';

/**
 * Appends an event to the log of its subject, unless it is there. The row of the subject stays locked until the
 * transaction ends, so no reader sees an event before one with a smaller number.
 * @returns whether it was appended
 */
export async function appendToLog(tx: Knex.Transaction, event: NewEvent): Promise<boolean> {
  const result = await tx.raw<{ rowCount: number }>(
    `with log as (
       insert into subject_logs as l (subject, position)
       select :subject, 1 where not exists (select from events where event_id = :eventId)
       on conflict (subject) do update set position = l.position + 1
       returning position
     )
     insert into events (subject, position, event_id, type, task_id, occurred_at, data)
     select :subject, position, :eventId, :type, :taskId, :occurredAt, :data from log`,
    { ...event },
  );
  return result.rowCount === 1;
}

/** The number of the newest event of a subject; 0 without one. */
export async function readHead(db: Knex, subject: string): Promise<number> {
  const row = await db('subject_logs').where({ subject }).first<{ position: number } | undefined>('position');
  return row?.position ?? 0;
}

/** The same of many subjects; those without an event are left out. */
export async function readHeads(db: Knex, subjects: string[]): Promise<Map<string, number>> {
  const rows = await db('subject_logs')
    .whereRaw('subject = any(?)', [subjects])
    .select<{ subject: string; position: number }[]>('subject', 'position');
  return new Map(rows.map(({ subject, position }) => [subject, position]));
}

export interface LogRange {
  subject: string;
  types: readonly EventType[] | undefined;
  /** Exclusive. */
  after: number;
  /** Inclusive. */
  upTo: number;
  order: 'asc' | 'desc';
  limit: number;
}

const COLUMNS = 'position, event_id, type, occurred_at, data';

/** Events of a range in its order. Rare types are found by their own index, each type for itself. */
export async function readLog(db: Knex, { types, order, ...range }: LogRange): Promise<LoggedEvent[]> {
  const condition = 'subject = :subject and position > :after and position <= :upTo';
  const tail = `order by position ${order} limit :limit`;
  const all = `select ${COLUMNS} from events where ${condition} ${tail}`;
  const some = `
    select found.* from unnest(:types::text[]) as wanted(type)
     cross join lateral (select ${COLUMNS} from events where type = wanted.type and ${condition} ${tail}) as found
     ${tail}`;
  const { rows } = await db.raw<{ rows: LoggedEvent[] }>(types ? some : all, { ...range, types: types ?? null });
  return rows;
}

/** Removes the events of a task. Numbers of the log that are missing harm no cursor. @returns how many */
export async function removeEventsOf(tx: Knex.Transaction, taskId: string): Promise<number> {
  return tx('events').where({ task_id: taskId }).delete();
}

/** Removes up to `limit` events that were logged more than `days` ago. @returns how many */
export async function removeOldEvents(db: Knex, days: number, limit: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from events where (subject, position) in (
       select subject, position from events where logged_at < vision_now() - make_interval(days => :days)
        order by logged_at limit :limit for update skip locked)`,
    { days, limit },
  );
  return result.rowCount;
}
