import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inTransaction } from '@vision/shared/db/transaction';
import { until } from '@vision/shared/testing/until';
import { markDeleted } from '../src/db/deleted-tasks.ts';
import { lockFold, saveFold } from '../src/db/folds.ts';
import type { StoredFold } from '../src/db/folds.ts';
import { newTaskId, testResults } from './support.ts';

let database: Awaited<ReturnType<typeof testResults>>;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

const foldOf = (revision: number, text: string): StoredFold => ({
  seq: revision,
  position: revision,
  revision,
  state: Buffer.from(text),
  rules: null,
});

const planAt = (position: number) => ({ position, ms: 60_000, againMs: 600_000, ruleSet: { before: 7, after: 8 } });

/** A task whose fold has been stored once, without a planned next one. */
async function foldedTask(): Promise<string> {
  const { db } = database;
  const taskId = newTaskId();
  await db('ingests').insert({ task_id: taskId, position: 5, rule_set: 7 });
  await inTransaction(db, async (tx) => {
    await lockFold(tx, taskId, 0);
    await saveFold(tx, taskId, { fold: foldOf(1, 'first'), plan: undefined });
  });
  return taskId;
}

async function stored(taskId: string) {
  const { rows } = await database.db.raw<{ rows: object[] }>(
    `select f.revision, convert_from(f.state, 'UTF8') as state, i.rule_set as "ruleSet",
            round(extract(epoch from i.fold_at - now()) / 60)::int as "inMinutes"
       from ingests as i left join folds as f using (task_id) where task_id = ?`,
    [taskId],
  );
  return rows[0];
}

test('a fold and the plan of the next one are stored together', async () => {
  const taskId = await foldedTask();
  const { db } = database;
  expect(await saveFold(db, taskId, { fold: foldOf(2, 'second'), plan: planAt(5) })).toBe(true);
  expect(await stored(taskId)).toEqual({ revision: 2, state: 'second', ruleSet: 8, inMinutes: 10 });
  expect(await saveFold(db, taskId, { fold: foldOf(3, 'third'), plan: undefined })).toBe(true);
  expect(await stored(taskId)).toEqual({ revision: 3, state: 'third', ruleSet: 8, inMinutes: 10 });
});

test('a fold that another process has stored meanwhile stays, and so does its plan', async () => {
  const taskId = await foldedTask();
  const { db } = database;
  for (const plan of [planAt(5), undefined])
    expect(await saveFold(db, taskId, { fold: foldOf(3, 'of another'), plan })).toBe(false);
  expect(await stored(taskId)).toEqual({ revision: 1, state: 'first', ruleSet: 7, inMinutes: null });
});

test.each([
  { meanwhile: 'frames', change: { position: 6 }, after: { ruleSet: 8, inMinutes: 1 } },
  { meanwhile: 'other rules', change: { rule_set: 9 }, after: { ruleSet: 9, inMinutes: 0 } },
])('$meanwhile that are stored at the same time count in the plan', async ({ change, after }) => {
  const taskId = await foldedTask();
  const { db } = database;
  const storing = await db.transaction();
  await storing('ingests').where({ task_id: taskId }).update(change);
  const saving = saveFold(db, taskId, { fold: foldOf(2, 'second'), plan: planAt(5) });
  await untilWaiting('with saved as%');
  await storing.commit();
  expect(await saving).toBe(true);
  expect(await stored(taskId)).toEqual({ revision: 2, state: 'second', ...after });
});

test('nothing of a task that is deleted at the same time is stored', async () => {
  const taskId = await foldedTask();
  const { db } = database;
  const deleting = await db.transaction();
  await markDeleted(deleting, taskId);
  const saving = saveFold(db, taskId, { fold: foldOf(2, 'second'), plan: planAt(5) });
  await untilWaiting('with saved as%');
  await deleting.commit();
  expect(await saving).toBe(false);
  expect(await stored(taskId)).toEqual({ revision: null, state: null, ruleSet: 7, inMinutes: null });
});

const untilWaiting = (query: string) =>
  until(async () => {
    const { rows } = await database.db.raw<{ rows: unknown[] }>(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query like ? and datname = current_database()`,
      [query],
    );
    return rows.length > 0;
  });
