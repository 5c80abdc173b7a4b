import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDueWorkPoller } from '@vision/shared/db/due-work';
import { createSteppedDatabase } from '@vision/shared/testing/stepped-clock';
import type { SteppedDatabase } from '@vision/shared/testing/stepped-clock';
import { until } from '@vision/shared/testing/until';
import { bringBackInstants } from '../src/db/bring-back-instants.ts';
import { migrations } from '../src/db/migrations/list.ts';
import { logger } from './support.ts';

let database: SteppedDatabase;
beforeAll(async () => {
  database = await createSteppedDatabase(migrations, '1 hour');
});
afterAll(() => database.drop());

test('rows that were scheduled by a fast clock are due after the clock is corrected', async () => {
  const { db } = database;
  const taskId = randomUUID();
  await db.raw(
    `insert into ingests (task_id, fold_at, compact_at, pending_until)
     values (?, now() + interval '5 s', now() + interval '10 min', now() + interval '40 s')`,
    [taskId],
  );
  let rounds = 0;
  const dueWork = createDueWorkPoller({
    db,
    logger,
    intervalMs: 20,
    dueWork: [{ isDue: 'true', wake: () => (rounds += 1) }],
    afterStepBack: () => bringBackInstants(db, { hotMs: 600_000, patienceMs: 40_000 }),
  });
  dueWork.start();
  const isDue = async () => {
    const { rows } = await db.raw<{ rows: [{ fold: boolean; compact: boolean; pending: boolean }] }>(
      `select fold_at <= now() as fold, compact_at <= now() + interval '10 min' as compact,
              pending_until <= now() + interval '40 s' as pending
         from ingests where task_id = ?`,
      [taskId],
    );
    return rows[0];
  };
  await until(() => rounds > 1);
  expect((await isDue()).fold).toBe(false);
  await database.step('0');
  await until(async () => (await isDue()).fold, { timeoutMs: 20_000 });
  expect(await isDue()).toEqual({ fold: true, compact: true, pending: true });
  await dueWork.stop();
});
