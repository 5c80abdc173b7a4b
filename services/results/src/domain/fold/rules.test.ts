import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ruleSchedule, ruleWhen } from '@vision/contracts/alarm-rules';
import type { RuleSchedule } from '@vision/contracts/alarm-rules';
import { paceOf } from './pace.ts';
import { evaluatorOf } from './rules.ts';
import { frameOf, newRuleState } from './rules/state.ts';
import type { Alarm, EvaluatedFrame, RuleState, SeenObject } from './rules/state.ts';

const taskId = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';
const task = { taskId, threshold: 500_000, isLive: true, beginsMs: 0, pace: paceOf(5) };
const SECOND = 1000;
const MINUTE = 60 * SECOND;

interface Tried {
  minIntervalMs?: number;
  schedule?: RuleSchedule;
}

const ruleOf = (when: unknown, { minIntervalMs = 0, schedule }: Tried = {}) => ({
  id: 'yard',
  version: 1,
  when: ruleWhen.parse(when),
  minIntervalMs,
  schedule,
});

const person = (trackId = 'a1-1', cx = 0.5, cy = 0.5) => ({
  label: 'person',
  trackId,
  score: 900_000,
  cx,
  cy,
  width: 0.1,
  height: 0.2,
});

/** Five frames a second from one time to another. */
const frames = (fromMs: number, toMs: number, objects: (ms: number) => SeenObject[] = () => []) => {
  const made: EvaluatedFrame[] = [];
  for (let timeMs = fromMs; timeMs < toMs; timeMs += 200)
    made.push(frameOf({ seq: timeMs / 200, timeMs }, objects(timeMs)));
  return made;
};

/** The alarms of a rule, each in its newest version; the state is stored as JSON between the portions. */
function alarmsOf(rule: ReturnType<typeof ruleOf>, portions: EvaluatedFrame[][], untilMs?: number) {
  let state = newRuleState();
  const alarms = new Map<string, Alarm>();
  for (const portion of portions) {
    const evaluator = evaluatorOf(rule, task);
    for (const frame of portion) for (const alarm of evaluator.frame(state, frame)) alarms.set(alarm.alarmId, alarm);
    state = JSON.parse(JSON.stringify(state)) as RuleState;
  }
  const rest = untilMs === undefined ? [] : evaluatorOf(rule, task).silence(state, untilMs);
  for (const alarm of rest) alarms.set(alarm.alarmId, alarm);
  return [...alarms.values()];
}

const times = (alarms: readonly Alarm[]) =>
  alarms.map(({ openedMs, closedMs, closedBy }) => [openedMs, closedMs, closedBy]);
const present = { kind: 'object_present', labels: ['person'] };
const absent = { kind: 'object_absent', labels: ['person'], for_ms: 10_000 };

test('opens once a condition has held, closes when it has cleared, and shows why', () => {
  const seen = frames(0, 20_000, (ms) => (ms >= 2000 && ms < 8000 ? [person()] : []));
  const [alarm, ...others] = alarmsOf(ruleOf({ ...present, for_ms: 3000, clear_ms: 2000 }), [seen]);
  expect(others).toEqual([]);
  expect(alarm).toMatchObject({
    openedMs: 5000,
    closedMs: 10_000,
    closedBy: 'cleared',
    evidence: { frame: { seq: 25, timeMs: 5000 }, objects: [person()], count: 1, heldMs: 3000 },
    labels: ['person'],
    countMax: 1,
    trackIds: ['a1-1'],
  });
});

test('does not count objects of other labels, lower scores, outside the region, or too few', () => {
  const region = [
    [0, 0.5],
    [1, 0.5],
    [1, 1],
    [0, 1],
  ];
  const tries = [
    [{ ...present }, { ...person(), label: 'car' }],
    [{ ...present }, { ...person(), score: 499_999 }],
    [{ ...present, min_score: 0.95 }, person()],
    [{ ...present, region }, person('a1-1', 0.5, 0.35)],
    [{ ...present, region, anchor: 'center' }, person('a1-1', 0.5, 0.45)],
    [{ ...present, min_count: 2 }, person()],
  ] as const;
  for (const [when, object] of tries) expect(alarmsOf(ruleOf(when), [frames(0, 2000, () => [object])])).toEqual([]);
  const inside = alarmsOf(ruleOf({ ...present, region }), [frames(0, 2000, () => [person('a1-1', 0.5, 0.45)])]);
  expect(inside).toHaveLength(1);
});

test('overlooks less than a second of the contrary, not more', () => {
  const flicker = (outMs: number) => frames(0, 20_000, (ms) => (ms >= 3000 && ms < 3000 + outMs ? [] : [person()]));
  const rule = ruleOf({ ...present, for_ms: 5000 });
  expect(times(alarmsOf(rule, [flicker(800)]))).toEqual([[5000, undefined, undefined]]);
  expect(times(alarmsOf(rule, [flicker(1000)]))).toEqual([[9000, undefined, undefined]]);
  const gone = frames(0, 30_000, (ms) => (ms === 5000 ? [person()] : []));
  expect(times(alarmsOf(ruleOf(absent), [gone]))).toEqual([[10_000, undefined, undefined]]);
});

test('objects that change their tracks are one alarm', () => {
  const seen = frames(0, 30_000, (ms) => [person(`a1-${Math.floor(ms / 1000)}`)]);
  const [alarm, ...others] = alarmsOf(ruleOf({ ...present, for_ms: 5000 }), [seen]);
  expect(others).toEqual([]);
  expect(alarm).toMatchObject({ openedMs: 5000, trackIds: expect.arrayContaining(['a1-5']) as unknown });
});

test('a camera that is cut for five minutes is no absence, and closes what was open', () => {
  const seen = [
    ...frames(0, 20_000, () => [person()]),
    ...frames(20_000, 25_000),
    ...frames(25_000 + 5 * MINUTE, 33_000 + 5 * MINUTE),
    ...frames(33_000 + 5 * MINUTE, 40_000 + 5 * MINUTE, () => [person()]),
  ];
  expect(alarmsOf(ruleOf(absent), [seen])).toEqual([]);
  const [first, second] = times(alarmsOf(ruleOf({ ...present, clear_ms: 60_000 }), [seen]));
  expect([first, second?.[0]]).toEqual([[0, 24_800 + MINUTE, 'gap'], 33_000 + 5 * MINUTE]);
  const down = alarmsOf(ruleOf({ kind: 'source_down' }), [seen]);
  expect(times(down)).toEqual([[24_800 + MINUTE, 25_000 + 5 * MINUTE, 'cleared']]);
});

test('time does not run in a gap of less than a minute', () => {
  const seen = [...frames(0, 4000, () => [person()]), ...frames(44_000, 50_000, () => [person()])];
  expect(times(alarmsOf(ruleOf({ ...present, for_ms: 5000 }), [seen]))).toEqual([[45_200, undefined, undefined]]);
});

test('a silent source is reported when it is silent, and once for any number of evaluations', () => {
  const rule = ruleOf({ kind: 'source_down', for_ms: 10_000 });
  const evaluator = evaluatorOf(rule, task);
  const state = newRuleState();
  for (const frame of frames(0, 1000)) evaluator.frame(state, frame);
  const told = [9_000, 10_800, 10_801, 30_000, 90_000].map((ms) => evaluator.silence(state, ms).length);
  expect(told).toEqual([0, 0, 1, 0, 0]);
  expect(times(evaluator.frame(state, frameOf({ seq: 500, timeMs: 100_000 }, [])))).toEqual([
    [10_800, 100_000, 'cleared'],
  ]);
  expect(evaluatorOf(rule, { ...task, isLive: false }).silence(newRuleState(), 100_000)).toEqual([]);
});

test('holds back alarms that come too soon, and raises the one that still holds', () => {
  const visits = (ms: number) => (ms % 10_000 < 2000 ? [person()] : []);
  const rule = ruleOf({ ...present, clear_ms: 1000 }, { minIntervalMs: 25_000 });
  const told = alarmsOf(rule, [frames(0, 35_000, visits)]);
  expect(told.map(({ openedMs, suppressed }) => [openedMs, suppressed])).toEqual([
    [0, 0],
    [30_000, 2],
  ]);
  const stays = frames(0, 40_000, (ms) => (ms < 2000 || ms >= 10_000 ? [person()] : []));
  expect(times(alarmsOf(rule, [stays]))).toEqual([
    [0, 3000, 'cleared'],
    [25_000, undefined, undefined],
  ]);
});

test('a schedule keeps alarms from opening and closes them at its end', () => {
  const schedule = ruleSchedule.parse({
    time_zone: 'UTC',
    windows: [{ days: ['thu'], from: '00:01', to: '00:02' }],
  });
  const seen = frames(0, 3 * MINUTE, () => [person()]);
  const rule = ruleOf({ ...present, for_ms: 5000 }, { schedule });
  expect(times(alarmsOf(rule, [seen]))).toEqual([[65_000, 120_000, 'schedule']]);
  const down = ruleOf({ kind: 'source_down', for_ms: 5000 }, { schedule });
  expect(times(alarmsOf(down, [frames(0, 1000)], 10 * MINUTE))).toEqual([[60_000, 120_000, 'schedule']]);
});

const line = {
  kind: 'line_crossed',
  labels: ['person'],
  anchor: 'center',
  line: [
    [0.5, 0.2],
    [0.5, 0.8],
  ],
};
/** A track at these positions, one a frame. */
const walk = (places: [number, number][], stepMs = 200) =>
  places.map(([cx, cy], at) => frameOf({ seq: at, timeMs: at * stepMs }, [person('a1-1', cx, cy)]));
const across = [0.3, 0.45, 0.55, 0.7].map((x): [number, number] => [x, 0.5]);

test('a crossing is one alarm with its direction, in the second frame beyond the line', () => {
  const crossed = (when: unknown, places: [number, number][]) =>
    alarmsOf(ruleOf(when), [walk(places)]).map(({ openedMs, closedMs, evidence }) => [
      openedMs,
      closedMs,
      evidence.direction,
    ]);
  // The line points downwards, so its right side is on the left of the image.
  expect(crossed(line, across)).toEqual([[600, 600, 'right_to_left']]);
  expect(crossed(line, across.toReversed())).toEqual([[600, 600, 'left_to_right']]);
  expect(crossed({ ...line, direction: 'left_to_right' }, across)).toEqual([]);
});

test.each<[string, EvaluatedFrame[]]>([
  ['beside the line', walk(across.map(([x]) => [x, 0.9]))],
  ['by one frame only', walk([...across.slice(0, 3), ...across.slice(0, 2)])],
  ['after one frame only', walk(across.slice(1))],
  ['over a gap', walk(across, 3200)],
  ['by another track', walk(across).map((frame, at) => (at < 2 ? frame : frameOf(frame, [person('a1-2', 0.7)])))],
])('no crossing %s', (_name, seen) => {
  expect(alarmsOf(ruleOf(line), [seen])).toEqual([]);
});

test('a box that trembles on the line crosses once', () => {
  const places = [0.3, 0.4, 0.52, 0.49, 0.51, 0.48, 0.49, 0.53, 0.6, 0.49, 0.6, 0.7].map((x): [number, number] => [
    x,
    0.5,
  ]);
  expect(alarmsOf(ruleOf(line), [walk(places)])).toHaveLength(1);
});

test('the end of a task closes alarms, and is one for rules that ask for it', () => {
  const evaluator = evaluatorOf(ruleOf({ ...present }), task);
  const state = newRuleState();
  evaluator.frame(state, frameOf({ seq: 0, timeMs: 0 }, [person()]));
  expect(times(evaluator.end(state, { atMs: 500, status: 'failed' }))).toEqual([[0, 500, 'task_end']]);
  const ended = evaluatorOf(ruleOf({ kind: 'task_ended' }), task);
  expect(ended.end(newRuleState(), { atMs: 500, status: 'succeeded' })).toEqual([]);
  expect(times(ended.end(newRuleState(), { atMs: 500, status: 'failed' }).slice(-1))).toEqual([[500, 500, 'task_end']]);
});

const step = fc.record({
  gapMs: fc.oneof({ weight: 8, arbitrary: fc.constant(200) }, fc.constantFrom(0, 900, 3500, 61_000, 200_000)),
  places: fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.double({ min: 0, max: 1, noNaN: true })), {
    selector: ([track]) => track,
    maxLength: 3,
  }),
});
const rules = [
  ruleOf({ ...present, for_ms: 400, clear_ms: 1000 }),
  ruleOf({ ...present, min_count: 2, clear_ms: 2000 }, { minIntervalMs: 5000 }),
  ruleOf(absent),
  ruleOf(line, { minIntervalMs: 1000 }),
  ruleOf({ kind: 'source_down', for_ms: 5000 }, { minIntervalMs: 100_000 }),
];

test('the same frames give the same alarms in any portions, repeats included', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.infiniteStream(fc.boolean()), (steps, cuts) => {
      let timeMs = 0;
      const all = steps.map(({ gapMs, places }, seq) => {
        timeMs += gapMs;
        return frameOf(
          { seq, timeMs },
          places.map(([track, x]) => person(`a1-${track}`, x, 0.5)),
        );
      });
      const portions: EvaluatedFrame[][] = [[]];
      for (const frame of all) {
        // A portion repeats the last frame of the previous one: the process stored its state and then ended.
        if (cuts.next().value) portions.push(portions.at(-1)?.slice(-1) ?? []);
        portions.at(-1)?.push(frame);
      }
      for (const rule of rules) {
        const whole = alarmsOf(rule, [all], timeMs + 100_000);
        expect(alarmsOf(rule, portions, timeMs + 100_000)).toEqual(whole);
        expect(new Set(whole.map(({ alarmId }) => alarmId)).size).toBe(whole.length);
      }
    }),
  );
});
