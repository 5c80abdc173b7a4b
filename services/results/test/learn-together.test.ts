import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { learnRule } from '../src/use-cases/rules/learn-rule.ts';
import { learnTask } from '../src/use-cases/store/learn-task.ts';
import { newSubject, rule } from './alarm-world.ts';
import { newTaskId, snapshot, testResults } from './support.ts';
import { together } from './together.ts';
import type { Step } from './together.ts';

let database: Awaited<ReturnType<typeof testResults>>;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

async function looksUpRules(taskId: string): Promise<boolean> {
  const row = await database.db('ingests').where({ task_id: taskId }).first<{ rule_set: number | null } | undefined>();
  return row?.rule_set !== undefined && row.rule_set !== null && row.rule_set < 0;
}

test('a rule and a task that are stored at the same time find each other in either order', async () => {
  for (const isRuleFirst of [true, false]) {
    const subject = newSubject();
    const taskId = newTaskId();
    const ofRule: Step = (tx) => learnRule(tx, rule(subject));
    const ofTask: Step = (tx) => learnTask(tx, snapshot(taskId, subject));
    const [first, second] = isRuleFirst ? [ofRule, ofTask] : [ofTask, ofRule];
    await together(database.db, first, second);
    expect(await looksUpRules(taskId)).toBe(true);
  }
});
