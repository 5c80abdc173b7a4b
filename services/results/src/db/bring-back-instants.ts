import type { Knex } from 'knex';

/** Folds that are further ahead wait for the time of an alarm rule, and lose nothing when they come early. */
const FOLD_AHEAD = `interval '2 minutes'`;

/**
 * Makes due what lies further ahead than any pause: it was written while the clock of the database was ahead, and
 * nothing would be done about it until the clock has caught up.
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
