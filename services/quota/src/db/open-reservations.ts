import type { Knex } from 'knex';
import type { QuotaKind } from '@vision/contracts/quota';

/** Open reservations of one kind, and the age of the oldest. */
interface OpenReservations {
  count: number;
  oldestS: number;
}

/** Counts them by kind; kinds without any are omitted. The index of open reservations answers it. */
export async function countOpenReservations(db: Knex): Promise<Partial<Record<QuotaKind, OpenReservations>>> {
  const { rows } = await db.raw<{ rows: { kind: QuotaKind; count: number; oldest_s: number }[] }>(
    `select kind, count(*) as count, extract(epoch from vision_now() - min(created_at))::double precision as oldest_s
       from reservations
      where state = 'open' and kind is not null
      group by kind`,
  );
  return Object.fromEntries(rows.map(({ kind, count, oldest_s: oldestS }) => [kind, { count, oldestS }]));
}
