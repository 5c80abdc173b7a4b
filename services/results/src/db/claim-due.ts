import type { Knex } from 'knex';

export interface Claim {
  limit: number;
  leaseMs: number;
}

type DueColumn = 'compact_at' | 'fold_at';

/** Seconds since the first due task became due by this column; 0 when none is. */
export async function dueLag(db: Knex, dueAt: DueColumn): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ lag: number | null }] }>(
    `select extract(epoch from now() - min(:dueAt:))::double precision as lag from ingests where :dueAt: <= now()`,
    { dueAt },
  );
  return rows[0].lag ?? 0;
}

/** Claims tasks that are due by this column, each for the time of a lease, so that no other replica claims them. */
export async function claimDue(db: Knex, dueAt: DueColumn, { limit, leaseMs }: Claim): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `update ingests set :dueAt: = now() + make_interval(secs => :leaseS)
      where task_id in (
        select task_id from ingests where :dueAt: <= now() order by :dueAt: limit :limit for update skip locked)
      returning task_id as id`,
    { dueAt, leaseS: leaseMs / 1000, limit },
  );
  return rows.map(({ id }) => id);
}
