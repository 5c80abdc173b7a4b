import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { ruleWhen } from '@vision/contracts/alarm-rules';
import { prepareRules } from '../src/domain/fold/active-rule.ts';
import { Evaluation } from '../src/domain/fold/evaluation.ts';
import { emptyEvaluation } from '../src/domain/fold/evaluation-state.ts';
import { paceOf } from '../src/domain/fold/pace.ts';
import type { EvaluatedView } from '../src/domain/task-view.ts';
import { createSignals } from '../src/signals.ts';
import { evaluateRest } from '../src/use-cases/fold/evaluate-rest.ts';
import { logger, newTaskId, testResults, testSettings } from './support.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

const NOW = 1_000_000;
/** A stream whose newest frame is a hundred seconds old, with one rule for silence and one for its end. */
async function silentTask(
  view: Partial<EvaluatedView> = {},
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
  const evaluation = new Evaluation({
    prepared: prepareRules(rules, { taskId, threshold: 0, isLive: true, beginsMs: 0, pace: paceOf(5) }),
    state: { ...emptyEvaluation(), newest: { seq: 4, timeMs: NOW - 100_000 }, judgedMs },
    position: 5,
    newest: { seq: 4, timeMs: NOW - 100_000 },
    createdMs: 1,
    endedMs: undefined,
  });
  const task: EvaluatedView = {
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
  const kinds = () => evaluation.changes.map(({ kind, alarm }) => [kind, alarm.closedBy]);
  const evaluate = (completeUntil: () => Promise<number | undefined>, position = 5) =>
    evaluateRest(
      { arrivals: { completeUntil }, db: database.db, signals: createSignals(logger), settings: testSettings },
      { taskId, position, evaluation, task, nowMs: NOW },
    );
  return { evaluation, evaluate, kinds };
}

const upTo = (ms: number | undefined) => () => Promise.resolve(ms);

test('frames that were stored since the rules read them are no silence', async () => {
  const { evaluate, kinds } = await silentTask();
  expect(await evaluate(upTo(NOW), 4)).toBeGreaterThan(0);
  expect(kinds()).toEqual([]);
  expect(await evaluate(upTo(NOW), 5)).toBeGreaterThan(0);
  expect(kinds()).toEqual([['source_down', undefined]]);
});

test('a frame that was evaluated a moment ago is no silence, although the clock of its worker is behind', async () => {
  const { evaluate, kinds } = await silentTask({}, { judgedMs: NOW - 3_000, forMs: 20_000 });
  expect(await evaluate(upTo(NOW))).toBeGreaterThan(0);
  expect(await evaluate(upTo(NOW + 1_000))).toBeGreaterThan(0);
  expect(kinds()).toEqual([]);
});

test('frames that wait in Kafka are no silence, and neither is a Kafka that does not answer', async () => {
  const { evaluate, kinds } = await silentTask();
  expect(await evaluate(upTo(undefined))).toBeGreaterThan(0);
  expect(await evaluate(() => Promise.reject(new Error('no broker answers')))).toBeGreaterThan(0);
  expect(kinds()).toEqual([]);
});

test('the end of a task waits for its frames in Kafka, and for those that are stored but not read', async () => {
  const ended = { status: 'failed' as const, endedMs: NOW - 10_000, endedForMs: testSettings.endPatienceMs + 1 };
  const { evaluate, evaluation, kinds } = await silentTask(ended);
  for (const isBehind of [upTo(undefined), upTo(NOW - 10_001), () => Promise.reject(new Error('no broker answers'))])
    expect(await evaluate(isBehind)).toBeGreaterThan(0);
  expect(await evaluate(upTo(NOW), 4)).toBeGreaterThan(0);
  expect([evaluation.hasEnded, kinds()]).toEqual([false, []]);
  expect(await evaluate(upTo(NOW - 10_000))).toBeUndefined();
  expect(evaluation.hasEnded).toBe(true);
  expect(kinds()).toEqual([
    ['source_down', undefined],
    ['source_down', 'task_end'],
    ['task_ended', undefined],
    ['task_ended', 'task_end'],
  ]);
});

test('the end of a task with all its frames waits for nothing', async () => {
  const { evaluate, evaluation } = await silentTask({
    status: 'failed',
    endedMs: NOW,
    endedForMs: 0,
    hasAllFrames: true,
  });
  expect(await evaluate(() => Promise.reject(new Error('no broker answers')))).toBeUndefined();
  expect(evaluation.hasEnded).toBe(true);
});
