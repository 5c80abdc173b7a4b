import type { Knex } from 'knex';

export interface Claim {
  limit: number;
  leaseMs: number;
}

/** Claims tasks that are due by this column, each for the time of a lease, so that no other replica claims them. */
export async function claimDue(
  db: Knex,
  dueAt: 'compact_at' | 'fold_at',
  { limit, leaseMs }: Claim,
): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `update ingests set :dueAt: = now() + make_interval(secs => :leaseS)
      where task_id in (
        select task_id from ingests where :dueAt: <= now() order by :dueAt: limit :limit for update skip locked)
      returning task_id as id`,
    { dueAt, leaseS: leaseMs / 1000, limit },
  );
  return rows.map(({ id }) => id);
}
