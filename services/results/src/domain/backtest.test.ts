import { expect, test } from '@jest/globals';
import { ruleWhen } from '@vision/contracts/alarm-rules';
import { Backtest, completeUntil } from './backtest.ts';
import { paceOf } from './fold/pace.ts';
import { prepareRules } from './fold/active-rule.ts';
import { Evaluation } from './fold/evaluation.ts';
import { emptyEvaluation } from './fold/evaluation-state.ts';
import { frameOf } from './fold/rules/state.ts';
import type { Alarm } from './fold/rules/state.ts';

const TO_MS = 3_600_000;

interface Tried {
  when?: unknown;
  isLive?: boolean;
  createdMs?: number;
  fromMs?: number;
  sampleFps?: number;
  minIntervalMs?: number;
}

function backtestOf(tried: Tried = {}) {
  const { when, isLive = true, createdMs = 0, fromMs = 0, sampleFps = 5, minIntervalMs = 0 } = tried;
  const parsed = ruleWhen.parse(when ?? { kind: 'object_present', labels: ['person'] });
  const rule = { when: parsed, minIntervalMs, schedule: undefined };
  const task = { taskId: 'task', threshold: 500_000, isLive, createdMs, pace: paceOf(sampleFps) };
  return new Backtest(rule, task, { fromMs, toMs: TO_MS });
}

/** Evaluates frames without objects. */
const addEmpty = (backtest: Backtest, times: number[]) =>
  times.forEach((timeMs, seq) => backtest.add(frameOf({ seq, timeMs }, [])));

test('is evaluated up to the newest frame while frames may follow', () => {
  const backtest = backtestOf();
  expect(backtest.report(undefined)).toMatchObject({ evaluatedToMs: 0, coverage: 0 });
  addEmpty(backtest, [0, 1000, 2000, 3500]);
  expect(backtest.report(undefined)).toMatchObject({ evaluatedToMs: 3501, coverage: 1, framesRead: 4 });
});

test('is evaluated up to the time after which no frame is known, never before a frame', () => {
  const backtest = backtestOf();
  addEmpty(backtest, [0, 1000]);
  expect(backtest.report(8000)).toMatchObject({ evaluatedToMs: 8000, coverage: 0.25 });
  expect(backtest.report(500)).toMatchObject({ evaluatedToMs: 1001, coverage: 1 });
  expect(backtestOf({ fromMs: 9000 }).report(500)).toMatchObject({ evaluatedToMs: 9000, coverage: 0 });
});

test('coverage leaves out the time before a stream began and after the end of a task', () => {
  const stream = backtestOf({ createdMs: 60_000 });
  addEmpty(stream, [60_000, 61_000]);
  expect(stream.report(64_000)).toMatchObject({ evaluatedToMs: 64_000, coverage: 0.5 });
  const upload = backtestOf({ isLive: false });
  addEmpty(upload, [0, 1000, 3000]);
  upload.end('succeeded', undefined);
  expect(upload.report(TO_MS)).toMatchObject({ evaluatedToMs: TO_MS, coverage: 0.75 });
});

test('at low rates a frame covers two sampling periods', () => {
  const backtest = backtestOf({ sampleFps: 0.2 });
  addEmpty(backtest, [0, 5000, 10_000, 30_000]);
  expect(backtest.report(undefined)).toMatchObject({ evaluatedToMs: 30_001, coverage: 0.6774 });
  expect(backtest.report(40_000)).toMatchObject({ coverage: 0.75 });
});

const crossing = {
  kind: 'line_crossed',
  labels: ['car'],
  line: [
    [0.5, 0],
    [0.5, 1],
  ],
  anchor: 'center',
};
const carsAt = (cx: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    label: 'car',
    trackId: `a1-${at}`,
    score: 900_000,
    cx,
    cy: 0.5,
    width: 0.1,
    height: 0.1,
  }));
/** They go to and fro over the line, two frames on each side. */
const toAndFro = (count: number, seq: number) => carsAt(seq % 4 < 2 ? 0.3 : 0.7, count);

test('returns 500 alarms at most, however many a frame raises', () => {
  const backtest = backtestOf({ when: crossing, sampleFps: 0.2 });
  // Sixty in each of eight minutes; the ninth minute has sixty crossings, twenty of them in its first frame.
  const added = Array.from({ length: 120 }, (_, seq) =>
    backtest.add(frameOf({ seq, timeMs: seq * 5000 }, toAndFro(100, seq))),
  );
  expect(added.indexOf(false)).toBe(97);
  expect(backtest.report(undefined).alarms).toHaveLength(500);
});

test.each([0, 400])(
  'leaves out the crossings that a running task leaves out, with %i ms between alarms',
  (minIntervalMs) => {
    const frames = Array.from({ length: 900 }, (_, seq) => ({ seq, timeMs: seq * 200, objects: toAndFro(3, seq) }));
    const backtest = backtestOf({ when: crossing, minIntervalMs });
    for (const { objects, ...ref } of frames) backtest.add(frameOf(ref, objects));
    const rule = {
      id: 'gate',
      version: 1,
      when: ruleWhen.parse(crossing),
      minIntervalMs,
      schedule: undefined,
      storedMs: 0,
    };
    const task = { taskId: 'task', threshold: 500_000, isLive: true, beginsMs: 0, pace: paceOf(5) };
    const evaluation = new Evaluation({
      prepared: prepareRules([rule], task),
      state: emptyEvaluation(),
      position: 0,
      newest: undefined,
      createdMs: 1,
      endedMs: undefined,
    });
    evaluation.add(
      frames.map(({ objects, ...ref }) => ({
        ...ref,
        position: ref.seq + 1,
        eachObject: (take) => objects.forEach(take),
      })),
    );
    const told = ({ openedMs, suppressed, trackIds }: Alarm) => [openedMs, suppressed, ...trackIds];
    const live = evaluation.changes.filter(({ alarm }) => alarm.closedMs === undefined).map(({ alarm }) => told(alarm));
    const { alarms, suppressed } = backtest.report(undefined);
    expect(evaluation.crossingsLeftOut).toBeGreaterThan(0);
    expect(alarms).toHaveLength(180);
    expect(alarms.map(told)).toEqual(live);
    expect(suppressed).toBe(evaluation.state().rules[0]?.state.suppressedTotal);
  },
);

test.each([
  ['a finished upload', { isLive: false, isOver: true }, TO_MS],
  ['an upload that is still analysed', { isLive: false, isOver: false }, undefined],
  ['a stream that has ended', { isOver: true, endedMs: 50_000 }, 50_000],
  ['a stream that ended behind the range', { isOver: true, endedMs: 2 * TO_MS }, TO_MS],
  ['a running stream with a new frame', { nowMs: 102_000 }, undefined],
  ['a running stream without a frame for long', { nowMs: 106_000 }, 106_000],
  ['a slow stream whose next frame is due', { nowMs: 109_000, sampleFps: 0.2 }, undefined],
  ['a range that lies behind', { nowMs: 2 * TO_MS }, TO_MS],
])('says up to where the frames are complete: %s', (_, facts, expected) => {
  const { sampleFps, ...rest } = { sampleFps: 5, ...facts };
  const known = { isLive: true, isOver: false, endedMs: undefined, nowMs: 2 * TO_MS, ...rest };
  expect(completeUntil({ ...known, toMs: TO_MS, reachedMs: 100_001, pace: paceOf(sampleFps) })).toBe(expected);
});
