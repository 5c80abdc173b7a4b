import type { Knex } from 'knex';

/**
 * Removes up to `batch` reservations that were closed more than `days` ago and adds their charge to `folded` of their
 * counter, so that counters still verify. Open reservations stay at any age: only an outcome may end them.
 * @returns the number of removed ones
 */
export async function foldOldReservations(tx: Knex.Transaction, days: number, batch: number): Promise<number> {
  const result = await tx.raw<{ rows: { removed: number }[] }>(
    `with removed as (
       delete from reservations where id in (
         select id from reservations where closed_at < vision_now() - make_interval(days => :days)
          order by closed_at limit :batch for update skip locked)
       returning subject, kind, day, charged
     ), sums as (
       select subject, kind, day, sum(charged)::int as charged from removed where charged > 0 group by subject, kind, day
     ), folded as (
       update quota_days as q set folded = q.folded + sums.charged from sums
        where (q.subject, q.kind, q.day) = (sums.subject, sums.kind, sums.day)
     )
     select count(*) as removed from removed`,
    { days, batch },
  );
  return result.rows[0]?.removed ?? 0;
}

/** Removes old counters without reservations. */
export async function dropOldCounters(db: Knex, days: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from quota_days as q where q.day < quota_today() - :days::int
        and not exists (select from reservations as r where (r.subject, r.kind, r.day) = (q.subject, q.kind, q.day))`,
    { days },
  );
  return result.rowCount;
}
