import type { Knex } from 'knex';

export interface ClaimOptions {
  /** Table with the columns `lease_until timestamptz not null` and `attempt int not null`, plus the key column. */
  table: string;
  /** Primary key column. */
  key: string;
  leaseMs: number;
  limit: number;
  /** Further condition on the row, e.g. `db.raw("status = any(?)", [statuses])`. */
  where?: Knex.Raw;
  /** Further assignments, which begin with a comma; they see the row as it was. */
  set?: Knex.Raw;
  /** Order of the rows; by the end of their leases if absent. */
  orderBy?: Knex.Raw;
}

/**
 * Claims rows whose lease has expired and returns them as they are after the claim: `lease_until` in the future,
 * `attempt` one higher. Two workers never get the same row at once.
 *
 * `attempt` is the fencing token: every later write of the worker is `… where key = ? and attempt = ?` and checks the
 * count, because a slow worker may outlive its lease. A worker that needs longer calls `renewLease`; a worker that
 * finishes sets the row to a state that `where` excludes. If a worker dies, another one claims the row after the lease
 * has expired.
 */
export async function claimDue<Row>(
  db: Knex,
  { table, key, leaseMs, limit, where, set, orderBy }: ClaimOptions,
): Promise<Row[]> {
  const result = await db.raw<{ rows: Row[] }>(
    `update :table: as claimed
        set lease_until = now() + make_interval(secs => :leaseS), attempt = claimed.attempt + 1 ${set ? ':set' : ''}
      where claimed.:key: in (
              select due.:key: from :table: as due
               where due.lease_until <= now() and :where
               order by :orderBy
               limit :limit
               for update skip locked)
      returning claimed.*`,
    {
      table,
      key,
      leaseS: leaseMs / 1000,
      limit,
      where: where ?? db.raw('true'),
      ...(set ? { set } : {}),
      orderBy: orderBy ?? db.raw('due.lease_until'),
    },
  );
  return result.rows;
}

/** Extends the lease of a claimed row; false when another worker has taken it over and the work must be dropped. */
export async function renewLease(
  db: Knex,
  { table, key, leaseMs }: Pick<ClaimOptions, 'table' | 'key' | 'leaseMs'>,
  claim: { id: string; attempt: number },
): Promise<boolean> {
  const changed = await db(table)
    .where({ [key]: claim.id, attempt: claim.attempt })
    .update({ lease_until: db.raw('now() + make_interval(secs => ?)', [leaseMs / 1000]) });
  return changed === 1;
}
