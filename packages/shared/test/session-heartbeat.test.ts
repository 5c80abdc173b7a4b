import { afterEach, expect, jest, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { openSession } from '../src/db/session.ts';
import { createTestDatabase } from '../src/testing/postgres.ts';

afterEach(() => void jest.useRealTimers());

/** Only what a heartbeat goes by is stepped; sockets and waits are real. */
const stepHeartbeats = () =>
  jest.useFakeTimers({
    doNotFake: ['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'setTimeout'],
  });

test('a session asks its server every ten seconds', async () => {
  const database = await createTestDatabase([]);
  stepHeartbeats();
  const session = await openSession(database.db);
  const [own] = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
  const lastAsked = async () => {
    const { rows } = await database.db.raw<{ rows: [{ at: Date; isIdle: boolean }] }>(
      `select query_start as at, state = 'idle' and query = 'select 1' as "isIdle" from pg_stat_activity where pid = ?`,
      [own?.pid ?? 0],
    );
    return rows[0].isIdle ? rows[0].at.getTime() : undefined;
  };
  const times = new Set<number>();
  for (let asked = 1; asked <= 3; asked += 1) {
    jest.advanceTimersByTime(10_000);
    while (times.size < asked) {
      const at = await lastAsked();
      if (at !== undefined) times.add(at);
      await delay(5);
    }
    // The answer comes a moment after the question.
    jest.advanceTimersByTime(5);
  }
  expect(times.size).toBe(3);
  await session.close();
  await database.drop();
});
