import type { Knex } from 'knex';

/** Folds scheduled later than this wait for the time of an alarm rule; running early does them no harm. */
const FOLD_AHEAD = `interval '2 minutes'`;

/**
 * Makes rows due that are scheduled later than any pause: they were written while the clock of the database was ahead,
 * and would otherwise wait until the clock has caught up.
 */
export async function bringBackInstants(
  db: Knex,
  { hotMs, patienceMs }: { hotMs: number; patienceMs: number },
): Promise<void> {
  await db.raw(
    `update ingests
        set fold_at = case when fold_at > now() + ${FOLD_AHEAD} then now() else fold_at end,
            compact_at = least(compact_at, now() + make_interval(secs => :hotS)),
            pending_until = least(pending_until, now() + make_interval(secs => :patienceS))
      where fold_at > now() + ${FOLD_AHEAD} or compact_at > now() + make_interval(secs => :hotS)
         or pending_until > now() + make_interval(secs => :patienceS)`,
    { hotS: hotMs / 1000, patienceS: patienceMs / 1000 },
  );
}
