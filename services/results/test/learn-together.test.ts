import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { until } from '@vision/shared/testing/until';
import { learnRule } from '../src/use-cases/learn-rule.ts';
import { learnTask } from '../src/use-cases/learn-task.ts';
import { newSubject, rule } from './alarm-world.ts';
import { newTaskId, snapshot, testResults } from './support.ts';

let database: Awaited<ReturnType<typeof testResults>>;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

type Learn = (tx: Knex.Transaction) => Promise<unknown>;

/** Both are under way before either is committed, unless one waits for the other. */
async function together(first: Learn, second: Learn): Promise<void> {
  const [one, other] = [await database.db.transaction(), await database.db.transaction()];
  await first(one);
  const progress = { isDone: false };
  const following = second(other).then(() => {
    progress.isDone = true;
  });
  await until(async () => {
    const { rows } = await database.db.raw<{ rows: object[] }>(
      `select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`,
    );
    return progress.isDone || rows.length > 0;
  });
  await one.commit();
  await following;
  await other.commit();
}

async function looksUpRules(taskId: string): Promise<boolean> {
  const row = await database.db('ingests').where({ task_id: taskId }).first<{ rule_set: number | null } | undefined>();
  return row?.rule_set !== undefined && row.rule_set !== null && row.rule_set < 0;
}

test('a rule and a task that are learned at the same time find each other, whichever is first', async () => {
  for (const isRuleFirst of [true, false]) {
    const subject = newSubject();
    const taskId = newTaskId();
    const ofRule: Learn = (tx) => learnRule(tx, rule(subject));
    const ofTask: Learn = (tx) => learnTask(tx, snapshot(taskId, subject));
    await (isRuleFirst ? together(ofRule, ofTask) : together(ofTask, ofRule));
    expect(await looksUpRules(taskId)).toBe(true);
  }
});
