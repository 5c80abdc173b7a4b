import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { ruleWhen } from '@vision/contracts/alarm-rules';
import { prepareRules } from '../src/domain/fold/active-rule.ts';
import { Judging } from '../src/domain/fold/judging.ts';
import { nothingJudged } from '../src/domain/fold/judging-state.ts';
import { paceOf } from '../src/domain/fold/pace.ts';
import type { JudgedView } from '../src/domain/task-view.ts';
import { createSignals } from '../src/signals.ts';
import { judgeRest } from '../src/use-cases/fold/judge-rest.ts';
import { logger, newTaskId, testResults, testSettings } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

const NOW = 1_000_000;
/** A stream whose newest frame is a hundred seconds old, with a rule that waits for silence and one for its end. */
async function silentTask(
  view: Partial<JudgedView> = {},
  { judgedMs, forMs = 5_000 }: { judgedMs?: number; forMs?: number } = {},
) {
  const taskId = newTaskId();
  await database.db.raw('insert into ingests (task_id, position) values (?, 5)', [taskId]);
  const rules = [{ kind: 'source_down', for_ms: forMs }, { kind: 'task_ended' }].map((when, index) => ({
    id: `rule-${index}`,
    version: 1,
    when: ruleWhen.parse(when),
    minIntervalMs: 0,
    schedule: undefined,
    storedMs: 0,
  }));
  const judging = new Judging({
    prepared: prepareRules(rules, { taskId, threshold: 0, isLive: true, beginsMs: 0, pace: paceOf(5) }),
    state: { ...nothingJudged(), newest: { seq: 4, timeMs: NOW - 100_000 }, judgedMs },
    position: 5,
    newest: { seq: 4, timeMs: NOW - 100_000 },
    createdMs: 1,
    endedMs: undefined,
  });
  const task: JudgedView = {
    subject: 'acme',
    kind: 'stream',
    status: 'running',
    defaultMinScore: 0.5,
    sceneCode: null,
    clientRef: null,
    snapshots: null,
    endedMs: null,
    endedForMs: null,
    hasAllFrames: false,
    ...view,
  };
  const kinds = () => judging.changes.map(({ kind, alarm }) => [kind, alarm.closedBy]);
  const judge = (completeUntil: () => Promise<number | undefined>, position = 5) =>
    judgeRest(
      { arrivals: { completeUntil }, db: database.db, signals: createSignals(logger), settings: testSettings },
      { taskId, position, judging, task, nowMs: NOW },
    );
  return { judging, judge, kinds };
}

const upTo = (ms: number | undefined) => () => Promise.resolve(ms);

test('frames that were stored since the rules read them are no silence', async () => {
  const { judge, kinds } = await silentTask();
  expect(await judge(upTo(NOW), 4)).toBeGreaterThan(0);
  expect(kinds()).toEqual([]);
  expect(await judge(upTo(NOW), 5)).toBeGreaterThan(0);
  expect(kinds()).toEqual([['source_down', undefined]]);
});

test('a frame that was judged a moment ago is no silence, although the clock of its worker is behind', async () => {
  const { judge, kinds } = await silentTask({}, { judgedMs: NOW - 3_000, forMs: 20_000 });
  expect(await judge(upTo(NOW))).toBeGreaterThan(0);
  expect(await judge(upTo(NOW + 1_000))).toBeGreaterThan(0);
  expect(kinds()).toEqual([]);
});

test('frames that wait in Kafka are no silence, and neither is a Kafka that does not answer', async () => {
  const { judge, kinds } = await silentTask();
  expect(await judge(upTo(undefined))).toBeGreaterThan(0);
  expect(await judge(() => Promise.reject(new Error('no broker answers')))).toBeGreaterThan(0);
  expect(kinds()).toEqual([]);
});

test('the end of a task waits for its frames behind in Kafka, and those that are stored but not read', async () => {
  const ended = { status: 'failed' as const, endedMs: NOW - 10_000, endedForMs: testSettings.endPatienceMs + 1 };
  const { judge, judging, kinds } = await silentTask(ended);
  for (const isBehind of [upTo(undefined), upTo(NOW - 10_001), () => Promise.reject(new Error('no broker answers'))])
    expect(await judge(isBehind)).toBeGreaterThan(0);
  expect(await judge(upTo(NOW), 4)).toBeGreaterThan(0);
  expect([judging.hasEnded, kinds()]).toEqual([false, []]);
  expect(await judge(upTo(NOW - 10_000))).toBeUndefined();
  expect(judging.hasEnded).toBe(true);
  expect(kinds()).toEqual([
    ['source_down', undefined],
    ['source_down', 'task_end'],
    ['task_ended', undefined],
    ['task_ended', 'task_end'],
  ]);
});

test('the end of a task that says it has all frames waits for nothing', async () => {
  const { judge, judging } = await silentTask({ status: 'failed', endedMs: NOW, endedForMs: 0, hasAllFrames: true });
  expect(await judge(() => Promise.reject(new Error('no broker answers')))).toBeUndefined();
  expect(judging.hasEnded).toBe(true);
});
