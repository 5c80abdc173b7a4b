import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inTransaction } from '@vision/shared/db/transaction';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { createSignals } from '../src/signals.ts';
import { createRowFinder } from '../src/use-cases/segments/compact-frames.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { turnIntoRows } from './rows.ts';
import { frame, logger, taskIdAt, testResults, testSettings } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

/** Stores a frame as a row, as an earlier release did. */
async function keepRow(task: string): Promise<void> {
  await storeFrames(
    {
      partitions: createPartitionKeeper(database.db, 90),
      settings: testSettings,
      signals: createSignals(logger),
      wakeRelay: () => undefined,
    },
    [{ kind: 'frame', data: frame(task, 0) }],
    (work) => inTransaction(database.db, work),
  );
  await turnIntoRows(database.db, task);
}

test('tasks with rows are found on every day, and all days are queried at once', async () => {
  const tasks = [0, 1, 2, 3, 4].map((days) => taskIdAt(Date.now() - days * 86_400_000));
  for (const task of tasks) await keepRow(task);
  const asked: string[] = [];
  const note = ({ sql }: { sql: string }) => void asked.push(sql);
  database.db.on('query', note);
  await createRowFinder(database)(new AbortController().signal);
  database.db.removeListener('query', note);
  const due = database.db('ingests').whereIn('task_id', tasks).whereNotNull('compact_at');
  expect((await due.pluck<string[]>('task_id')).sort()).toEqual(tasks.sort());
  // One for the days, one for a task of each, one to make these due, and one for the task after each.
  expect(asked).toHaveLength(4);
});
