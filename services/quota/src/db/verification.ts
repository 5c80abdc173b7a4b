import type { Knex } from 'knex';
import type { VerificationReply } from '@vision/contracts/quota';

/**
 * Recomputes every counter. One statement reads one snapshot, and every change of the ledger commits together with its
 * counter, so a difference is never a change in progress.
 */
export async function compareCounters(db: Knex, atMost: number): Promise<VerificationReply> {
  const result = await db.raw<{ rows: VerificationReply[] }>(
    `with ledger as (
       select r.subject, r.kind, r.day, sum(r.charged)::int as charged, count(*) as entries
         from reservations as r where r.kind is not null group by r.subject, r.kind, r.day
     ), compared as (
       select subject, kind, day, coalesce(q.used, 0) as used, coalesce(l.charged, 0) + coalesce(q.folded, 0) as ledger,
              coalesce(l.entries, 0) as entries
         from quota_days as q full join ledger as l using (subject, kind, day)
     ), wrong as (
       select subject, kind, day::text, used, ledger from compared where used <> ledger order by day, subject, kind limit :atMost
     )
     select (select count(*) from compared) as counters,
            (select coalesce(sum(entries), 0)::bigint from compared) as reservations,
            coalesce((select jsonb_agg(to_jsonb(wrong)) from wrong), '[]') as differences`,
    { atMost },
  );
  const [row] = result.rows;
  if (!row) throw new Error('the verification query returned no row');
  return row;
}
