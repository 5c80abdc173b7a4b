import type { Knex } from 'knex';

/** SQL for an instant this far from now, by the clock of leases and due times. */
export const inFuture = (db: Knex, ms: number): Knex.Raw => db.raw('now() + make_interval(secs => ?)', [ms / 1000]);
