import type { Knex } from 'knex';

/**
 * Whether work is due that one of all replicas does for all: true for the first that asks when the last turn began
 * `everyMs` ago, or was marked by a clock that was ahead. A turn that fails is made up for by the next one. Turns stand
 * among the marks of audits (`auditMigration`).
 * @param work names it, unlike any kind of audit
 */
export async function claimTurn(db: Knex, work: string, everyMs: number): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `insert into audit_marks as last (kind, mark) values (:work, now())
     on conflict (kind) do update set mark = excluded.mark
      where last.mark <= now() - make_interval(secs => :everyS) or last.mark > now() + interval '1 minute'
     returning kind`,
    { work, everyS: everyMs / 1000 },
  );
  return rows.length === 1;
}

/** Renews a claimed turn while its work continues, so that no other process begins it. */
export async function keepTurn(db: Knex, work: string): Promise<void> {
  await db.raw('update audit_marks set mark = now() where kind = ?', [work]);
}
