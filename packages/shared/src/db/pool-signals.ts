import type { Knex } from 'knex';
import { createHistogram, observe } from '../telemetry/instruments.ts';
import { poolMetrics } from '../telemetry/shared-metrics.ts';

/** What is used here of the pool that knex keeps (the library tarn). */
interface Pool {
  max: number;
  numUsed: () => number;
  numFree: () => number;
  numPendingAcquires: () => number;
  on: (event: string, listener: (id: number) => void) => void;
}

const poolOf = (db: Knex) => (db.client as { pool: Pool }).pool;

/** Open connections of the pool that no work uses now. */
export const freeConnections = (db: Knex): number => poolOf(db).numFree();

/** Shows how full the pool of a database is and how long work waits for a connection, until the pool is destroyed. */
export function watchPool(db: Knex): void {
  const pool = poolOf(db);
  const wait = createHistogram(poolMetrics.wait);
  const since = new Map<number, number>();
  const waited = (id: number) => {
    const from = since.get(id);
    if (from !== undefined) wait.record((performance.now() - from) / 1000);
    since.delete(id);
  };
  pool.on('acquireRequest', (id) => since.set(id, performance.now()));
  pool.on('acquireSuccess', waited);
  pool.on('acquireFail', waited);
  const ends = [
    observe(poolMetrics.connections, (tell) => {
      tell(pool.numUsed(), { state: 'used' });
      tell(pool.numFree(), { state: 'free' });
      tell(pool.numPendingAcquires(), { state: 'waiting' });
    }),
    observe(poolMetrics.limit, (tell) => tell(pool.max)),
  ];
  pool.on('poolDestroyRequest', () => ends.forEach((end) => end()));
}
