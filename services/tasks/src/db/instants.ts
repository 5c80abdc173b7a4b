import type { Knex } from 'knex';

/** An instant this far from now in SQL, by the plain clock that leases and due times go by. */
export const inFuture = (db: Knex, ms: number): Knex.Raw => db.raw('now() + make_interval(secs => ?)', [ms / 1000]);
