import type { Knex } from 'knex';
import type { CounterRepair, OpenReservation, QuotaKind } from '@vision/contracts/quota';
import type { CounterRef } from '../domain/counter.ts';

export interface CounterState extends CounterRef {
  used: number;
  /** Sum of its reservations. */
  ledger: number;
}

/**
 * Removes changed counters from the list; the caller compares them in the same transaction, so none is lost when it
 * dies. `taken` is the number of removed entries.
 */
export async function takeTouched(tx: Knex, limit: number): Promise<{ counters: CounterRef[]; taken: number }> {
  const { rows } = await tx.raw<{ rows: CounterRef[] }>(
    `delete from ledger_changes where id in (
       select id from ledger_changes order by id limit :limit for update skip locked)
     returning subject, kind, day::text`,
    { limit },
  );
  const counters = new Map(rows.map((row) => [`${row.day} ${row.kind} ${row.subject}`, row]));
  return { counters: [...counters.values()], taken: rows.length };
}

/** Returns those of these counters that differ from their reservations, from one statement and so one snapshot. */
export async function compareThese(db: Knex, counters: CounterRef[]): Promise<CounterState[]> {
  if (counters.length === 0) return [];
  const { rows } = await db.raw<{ rows: CounterState[] }>(
    `select c.subject, c.kind, c.day::text, coalesce(q.used, 0) as used,
            (coalesce(q.folded, 0) + coalesce(sums.charged, 0))::int as ledger
       from json_to_recordset(:counters::json) as c (subject text, kind text, day date)
       left join quota_days as q on (q.subject, q.kind, q.day) = (c.subject, c.kind, c.day)
       cross join lateral (
         select sum(r.charged) as charged from reservations as r
          where (r.subject, r.kind, r.day) = (c.subject, c.kind, c.day)) as sums
      where coalesce(q.used, 0) <> coalesce(q.folded, 0) + coalesce(sums.charged, 0)`,
    { counters: JSON.stringify(counters) },
  );
  return rows;
}

/** Returns open reservations that are due, and schedules the next check of each. */
export async function claimOpen(db: Knex, kind: QuotaKind, limit: number): Promise<OpenReservation[]> {
  const { rows } = await db.raw<{ rows: OpenReservation[] }>(
    `update reservations as r
        set ask_at = now() + least(interval '1 hour', greatest(interval '1 minute', quota_now() - r.created_at))
      where r.id in (
        select id from reservations where state = 'open' and kind = :kind and ask_at <= now()
         order by ask_at limit :limit for update skip locked) and r.state = 'open'
      returning r.id as reservation_id, r.subject, r.units`,
    { kind, limit },
  );
  return rows;
}

export async function findOpen(db: Knex, ids: string[]): Promise<OpenReservation[]> {
  return db('reservations')
    .whereIn('id', ids)
    .where({ state: 'open' })
    .select<OpenReservation[]>('id as reservation_id', 'subject', 'units');
}

/**
 * Corrects a counter from its reservations. Its lock blocks other writers, which change the counter by differences, so
 * their later changes stay right.
 * @returns undefined when there is neither a counter nor a reservation
 */
export async function repair(tx: Knex, counter: CounterRef): Promise<CounterRepair | undefined> {
  const before = await tx('quota_days').where(counter).forUpdate().first<{ used: number } | undefined>('used');
  const [difference] = await compareThese(tx, [counter]);
  if (!before && !difference) return undefined;
  const after = difference?.ledger ?? before?.used ?? 0;
  await tx.raw(
    `insert into quota_days (subject, kind, day, used) values (:subject, :kind, :day, :after)
     on conflict (subject, kind, day) do update set used = excluded.used`,
    { ...counter, after },
  );
  return { ...counter, used_before: before?.used ?? 0, used_after: after };
}

export async function recordRepair(
  tx: Knex,
  { subject, kind, day, used_before, used_after }: CounterRepair,
  by: { who: string; reason: string },
): Promise<void> {
  await tx('counter_repairs').insert({ subject, kind, day, used_before, used_after, ...by });
}
