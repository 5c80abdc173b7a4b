import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { until } from '@vision/shared/testing/until';
import type { Scenario } from '../scenario.ts';
import { limits, QUOTA_POOL } from '../settings.ts';
import type { WhySystem } from '../system.ts';
import { asked } from './creates.ts';

/** Each waits 3 s for a lock; two rounds of them are longer than anybody waits for a connection. */
const READERS = QUOTA_POOL * 2;

/** Reads whose database or service stands still. */
export const reads: readonly Scenario[] = [
  {
    name: 'pool',
    title: 'The connections to the database are used up',
    broken: `Another session holds a table of quota; ${READERS} reads wait for it with all ${QUOTA_POOL} connections. One more comes.`,
    expected: { service: 'quota', upstream: 'postgres', outcome: 'pool_timeout', limitMs: limits.poolMs },
    run: (system, caller) =>
      whileLocked(system, async (waiting) => {
        const others = Array.from({ length: READERS }, () => caller.get('/v1/vision/usage'));
        await until(async () => (await waiting()) === QUOTA_POOL, { timeoutMs: 2_000 });
        const answer = await caller.get('/v1/vision/usage');
        await Promise.allSettled(others);
        return asked(answer);
      }),
  },
  {
    name: 'results',
    title: 'Results is frozen at a page',
    broken: 'The process of the results service is stopped; its port still takes connections.',
    expected: { service: 'gateway', upstream: 'results', outcome: 'headers_timeout', limitMs: limits.readMs },
    run: ({ whileFrozen }, caller) =>
      whileFrozen('results', async () => asked(await caller.get(`/v1/vision/tasks/${randomUUID()}/results`))),
  },
];

/** Holds the table that quota answers from; `waiting` counts who waits for it. */
async function whileLocked<T>(
  { quotaDatabaseUrl }: WhySystem,
  work: (waiting: () => Promise<number>) => Promise<T>,
): Promise<T> {
  const [holder, watcher] = [1, 2].map(() => new Client({ connectionString: quotaDatabaseUrl })) as [Client, Client];
  await Promise.all([holder.connect(), watcher.connect()]);
  try {
    await holder.query('begin; lock table quota_days in access exclusive mode');
    return await work(async () => {
      const sql = "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      return (await watcher.query(sql)).rowCount ?? 0;
    });
  } finally {
    await Promise.all([holder.end(), watcher.end()]);
  }
}
