import type { Knex } from 'knex';
import type { EventType, LoggedEvent, NewEvent } from '../domain/event.ts';

/**
 * Locks the log of a subject until the transaction ends, as appending does. Use it before a check that has to hold for
 * the events that are appended after it.
 */
export async function lockLog(tx: Knex.Transaction, subject: string): Promise<void> {
  await tx.raw(
    `insert into subject_logs as l (subject, position) values (?, 0)
     on conflict (subject) do update set position = l.position`,
    [subject],
  );
}

/**
 * Appends an event to the log of its subject, unless the log has it. The row of the subject stays locked until the
 * transaction ends, so no reader receives an event before one with a smaller number.
 *
 * A number is the time in milliseconds, or one more than the last number if that is larger. A restored database that
 * has lost numbers does not assign them to other events, so a cursor never points to the wrong position.
 * @returns its number; undefined when the log has it
 */
export async function appendToLog(
  tx: Knex.Transaction,
  { factAt: _factAt, ...event }: NewEvent,
): Promise<number | undefined> {
  const { rows } = await tx.raw<{ rows: { position: number }[] }>(
    `with log as (
       insert into subject_logs as l (subject, position)
       select :subject, (extract(epoch from clock_timestamp()) * 1000)::bigint
        where not exists (select from events where event_id = :eventId)
       on conflict (subject) do update set position = greatest(l.position + 1, excluded.position)
       returning position
     )
     insert into events (subject, position, event_id, type, task_id, occurred_at, data)
     select :subject, position, :eventId, :type, :taskId, :occurredAt, :data from log
     returning position`,
    { ...event, taskId: event.taskId ?? null },
  );
  return rows[0]?.position;
}

/** The number of the newest event of a subject; 0 without events. */
export async function readHead(db: Knex, subject: string): Promise<number> {
  const row = await db('subject_logs').where({ subject }).first<{ position: number } | undefined>('position');
  return row?.position ?? 0;
}

/** The same for many subjects; those without an event are omitted. */
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

/** Part of a log in a range. */
export interface LogExtract {
  events: LoggedEvent[];
  /** The newest event of the subject that retention removed: its number and the time at which it was logged. */
  expired: { position: number; at: Date } | undefined;
  /** Whether the event before the range is stored, or was removed: false means that the log lost it. */
  hasBefore: boolean;
}

type ExtractRow = { expired_position: number | null; expired_at: Date | null; has_before: boolean } & (
  LoggedEvent | { position: null }
);

const COLUMNS = 'position, event_id, type, occurred_at, data';

const HAS_BEFORE = `
  :after <= coalesce(gone.position, 0)
  or exists (select from events where subject = :subject and position = :after)
  or exists (select from removed_events where subject = :subject and position = :after)`;

/**
 * Events of a range in its order. Each of the rare types is found by its own index. One statement reads events and the
 * mark of expired ones, so no event can expire between the two.
 */
export async function readLog(db: Knex, { types, order, ...range }: LogRange): Promise<LogExtract> {
  const condition = 'subject = :subject and position > :after and position <= :upTo';
  const tail = `order by position ${order} limit :limit`;
  const all = `select ${COLUMNS} from events where ${condition} ${tail}`;
  const some = `
    select found.* from unnest(:types::text[]) as wanted(type)
     cross join lateral (select ${COLUMNS} from events where type = wanted.type and ${condition} ${tail}) as found
     ${tail}`;
  const { rows } = await db.raw<{ rows: ExtractRow[] }>(
    `select gone.position as expired_position, gone.logged_at as expired_at, ${HAS_BEFORE} as has_before, log.*
       from (select 1) as one
       left join expired_events as gone on gone.subject = :subject
       left join (${types ? some : all}) as log on true
      order by log.position ${order}`,
    { ...range, types: types ?? null },
  );
  const { expired_position: position = null, expired_at: at = null, has_before: hasBefore = true } = rows[0] ?? {};
  return {
    events: rows.filter((row) => row.position !== null),
    expired: position === null || at === null ? undefined : { position, at },
    hasBefore,
  };
}

/** Removes the events of a task, and records their numbers. @returns how many */
export async function removeEventsOf(db: Knex, taskId: string, limit: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `with removed as (
       delete from events where (subject, position) in (
         select subject, position from events where task_id = :taskId limit :limit)
       returning subject, position
     ), noted as (
       insert into removed_events (subject, position) select subject, position from removed on conflict do nothing
     )
     select count(*)::int as count from removed`,
    { taskId, limit },
  );
  return rows[0].count;
}

/** Removes up to `limit` records of events that were removed more than `days` ago. @returns how many */
export async function removeOldNotes(db: Knex, days: number, limit: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from removed_events where (subject, position) in (
       select subject, position from removed_events where removed_at < vision_now() - make_interval(days => :days)
        order by removed_at limit :limit for update skip locked)`,
    { days, limit },
  );
  return result.rowCount;
}

/** The number of the last event of a subject before `position`; 0 without one. */
export async function lastBefore(db: Knex, subject: string, position: number): Promise<number> {
  const row = await db('events')
    .where({ subject })
    .where('position', '<', position)
    .orderBy('position', 'desc')
    .first<{ position: number } | undefined>('position');
  return row?.position ?? 0;
}

/**
 * Removes up to `limit` events that were logged more than `days` ago, and stores for each subject up to where. May run
 * concurrently: rows of subjects are locked in their order.
 * @returns how many
 */
export async function removeOldEvents(db: Knex, days: number, limit: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `with removed as (
       delete from events where (subject, position) in (
         select subject, position from events where logged_at < vision_now() - make_interval(days => :days)
          order by logged_at limit :limit for update skip locked)
       returning subject, position, logged_at
     ), noted as (
       insert into expired_events as e (subject, position, logged_at)
       select subject, max(position), max(logged_at) from removed group by subject order by subject
       on conflict (subject) do update
          set position = greatest(e.position, excluded.position), logged_at = greatest(e.logged_at, excluded.logged_at)
     )
     select count(*)::int as count from removed`,
    { days, limit },
  );
  return rows[0].count;
}

/** Counts the events of a subject with numbers above `after`, up to `upTo`. */
export async function countEvents(
  db: Knex,
  { subject, after, upTo }: { subject: string; after: number; upTo: number },
): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ count: number }] }>(
    `select count(*)::int as count from events
      where subject = :subject and position > :after and position <= :upTo`,
    { subject, after, upTo },
  );
  return rows[0].count;
}

/** Counts the events of one type of a subject in the last seconds. */
export async function countSince(
  tx: Knex.Transaction,
  subject: string,
  type: EventType,
  seconds: number,
): Promise<number> {
  const { rows } = await tx.raw<{ rows: [{ count: number }] }>(
    `select count(*)::int as count from events
      where subject = :subject and type = :type and logged_at > vision_now() - make_interval(secs => :seconds)`,
    { subject, type, seconds },
  );
  return rows[0].count;
}
