import { expect, test } from '@jest/globals';
import { ruleWhen } from '@vision/contracts/alarm-rules';
import { paceOf } from './pace.ts';
import { evaluatorOf } from './rules.ts';
import { frameOf, newRuleState } from './rules/state.ts';
import type { Alarm, SeenObject } from './rules/state.ts';

const person = (cx = 0.5): SeenObject => ({
  label: 'person',
  trackId: 'a1-1',
  score: 900_000,
  cx,
  cy: 0.5,
  width: 0.1,
  height: 0.2,
});

/** Alarms of a rule on frames of a stream that is sampled at this rate, `periodMs` apart. */
function alarmsAt(sampleFps: number, periodMs: number, when: unknown, frames: readonly SeenObject[][]) {
  const rule = { id: 'yard', version: 1, when: ruleWhen.parse(when), minIntervalMs: 0, schedule: undefined };
  const taskId = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';
  const evaluator = evaluatorOf(rule, {
    taskId,
    threshold: 500_000,
    isLive: true,
    beginsMs: 0,
    pace: paceOf(sampleFps),
  });
  const state = newRuleState();
  const alarms = new Map<string, Alarm>();
  const keep = (changes: readonly Alarm[]) => changes.forEach((alarm) => alarms.set(alarm.alarmId, alarm));
  for (const [seq, objects] of frames.entries()) {
    // The time between two frames is evaluated as silence too, as for a running stream.
    if (seq > 0) keep(evaluator.silence(state, seq * periodMs - 1));
    keep(evaluator.frame(state, frameOf({ seq, timeMs: seq * periodMs }, objects)));
  }
  return [...alarms.values()].map(({ openedMs, closedMs, closedBy }) => [openedMs, closedMs, closedBy]);
}

const presence = (...seen: (0 | 1)[]) => seen.map((one) => (one ? [person()] : []));
const present = { kind: 'object_present', labels: ['person'], for_ms: 2000 };
const absent = { kind: 'object_absent', labels: ['person'], for_ms: 10_000 };
const line = {
  kind: 'line_crossed',
  labels: ['person'],
  anchor: 'center',
  line: [
    [0.5, 0.2],
    [0.5, 0.8],
  ],
};

test('an object in several frames of a slow stream is one alarm, which closes', () => {
  expect(alarmsAt(0.2, 5000, present, presence(1, 1, 1, 1, 0, 0, 0, 0))).toEqual([[5000, 30_000, 'cleared']]);
});

test('one frame without the object keeps the alarm of a slow stream open, and a longer clear_ms holds', () => {
  expect(alarmsAt(0.2, 5000, present, presence(1, 1, 0, 1, 1))).toEqual([[5000, undefined, undefined]]);
  const patient = { ...present, clear_ms: 20_000 };
  expect(alarmsAt(0.2, 5000, patient, presence(1, 1, 0, 0, 0, 0, 1))).toEqual([[5000, 30_000, 'cleared']]);
});

test('an absence in a slow stream is one alarm, which closes when the object is back', () => {
  expect(alarmsAt(0.2, 5000, absent, presence(1, 0, 0, 0, 0, 1, 1, 1))).toEqual([[15_000, 35_000, 'cleared']]);
});

test('a crossing in a slow stream is one alarm', () => {
  const walk = [0.3, 0.45, 0.55, 0.7].map((cx) => [person(cx)]);
  expect(alarmsAt(0.2, 5000, line, walk)).toEqual([[15_000, 15_000, 'cleared']]);
  expect(alarmsAt(0.2, 10_200, line, walk)).toEqual([]);
});

test('the time between two frames of a slow stream is no silence of the source', () => {
  const down = { kind: 'source_down', for_ms: 5000 };
  expect(alarmsAt(0.2, 5200, down, presence(0, 0, 0, 0))).toEqual([]);
  expect(alarmsAt(0.2, 12_000, down, presence(0, 0))).toEqual([[10_000, 12_000, 'cleared']]);
});

test('at five frames a second the times of a rule hold as they are', () => {
  expect(alarmsAt(5, 200, { kind: 'source_down', for_ms: 5000 }, presence(0))).toEqual([]);
  expect(alarmsAt(5, 5200, { kind: 'source_down', for_ms: 5000 }, presence(0, 0))).toEqual([[5000, 5200, 'cleared']]);
  const seen = Array.from({ length: 40 }, (_, at) => (at < 20 ? [person()] : []));
  expect(alarmsAt(5, 200, { ...present, clear_ms: 1000 }, seen)).toEqual([[2000, 5000, 'cleared']]);
});
