import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ruleWhen } from '@vision/contracts/alarm-rules';
import { prepareRules } from './active-rule.ts';
import { Evaluation } from './evaluation.ts';
import { decodeEvaluation, encodeEvaluation, emptyEvaluation } from './evaluation-state.ts';
import type { TaskRule } from './active-rule.ts';
import type { RuleAlarm } from './evaluation.ts';
import { paceOf } from './pace.ts';
import { evaluatorOf, toEvaluated } from './rules.ts';
import { CROSSINGS_A_MINUTE, LEVELS_A_MINUTE } from './rules/minute-limit.ts';
import { newRuleState } from './rules/state.ts';
import type { Alarm, SeenObject } from './rules/state.ts';
import type { FoldedFrame } from './state.ts';

const taskId = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';
const task = { taskId, threshold: 500_000, isLive: true, beginsMs: 0, pace: paceOf(5) };

const ruleOf = (id: string, when: unknown, facts: Partial<TaskRule> = {}): TaskRule => ({
  id,
  version: 1,
  when: ruleWhen.parse(when),
  minIntervalMs: 0,
  schedule: undefined,
  storedMs: 0,
  ...facts,
});

const frameOf = (seq: number, objects: readonly SeenObject[], timeMs = seq * 200): FoldedFrame => ({
  seq,
  position: seq + 1,
  timeMs,
  eachObject: (take) => {
    for (const object of objects) take({ ...object });
  },
});

const object = (label: string, trackId = 'a1-1', cx = 0.5): SeenObject => ({
  label,
  trackId,
  score: 900_000,
  cx,
  cy: 0.5,
  width: 0.1,
  height: 0.2,
});

/** Evaluates portions of frames as folds do: each begins with the state that the previous one stored. */
function evaluated(
  rules: TaskRule[],
  portions: FoldedFrame[][],
  facts: { createdMs?: number; position?: number } = {},
) {
  const changes: RuleAlarm[] = [];
  let state = emptyEvaluation();
  let newest: FoldedFrame | undefined;
  for (const portion of portions) {
    const evaluation = new Evaluation({
      prepared: prepareRules(rules, task),
      state,
      position: 0,
      newest: newest && { seq: newest.seq, timeMs: newest.timeMs },
      createdMs: 1,
      endedMs: undefined,
      ...facts,
    });
    // As the fold does: frames are decoded once.
    const watched = evaluation.watch(portion);
    if (portion.length % 2 === 0) for (const { eachObject } of watched) eachObject(() => undefined);
    evaluation.add(watched);
    changes.push(...evaluation.changes);
    state = decodeEvaluation(encodeEvaluation(evaluation.state()));
    newest = portion.at(-1) ?? newest;
  }
  return changes;
}

const kinds: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({
    kind: fc.constant('object_present'),
    labels: fc.constantFrom(['person'], ['car'], ['person', 'car'], ['bird']),
    for_ms: fc.constantFrom(0, 400, 2000),
    clear_ms: fc.constantFrom(1000, 3000),
    min_count: fc.constantFrom(1, 2),
  }),
  fc.record({
    kind: fc.constant('object_absent'),
    labels: fc.constantFrom(['person'], ['bird']),
    for_ms: fc.constant(10_000),
  }),
  fc.constant({
    kind: 'line_crossed',
    labels: ['person'],
    line: [
      [0.5, 0],
      [0.5, 1],
    ],
    anchor: 'center',
  }),
  fc.constant({ kind: 'source_down', for_ms: 5000 }),
  fc.constant({ kind: 'task_ended' }),
);

/** Steps of frames: how many periods pass, and the objects at their positions. */
const step = fc.record({
  periods: fc.constantFrom(1, 1, 1, 1, 2, 20, 400),
  objects: fc.array(
    fc
      .tuple(fc.constantFrom('person', 'car'), fc.constantFrom('a1-1', 'a1-2'), fc.constantFrom(0.2, 0.4, 0.6, 0.8))
      .map(([label, trackId, cx]) => object(label, trackId, cx)),
    { maxLength: 3 },
  ),
  isPortionEnd: fc.boolean(),
});

test('raises what each rule raises by itself, with any portions', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ when: kinds, minIntervalMs: fc.constantFrom(0, 3000) }), { minLength: 1, maxLength: 6 }),
      fc.array(step, { maxLength: 150 }),
      (found, steps) => {
        const rules = found.map(({ when, minIntervalMs }, index) => ruleOf(`rule-${index}`, when, { minIntervalMs }));
        const portions: FoldedFrame[][] = [[]];
        let timeMs = 0;
        for (const [seq, { periods, objects, isPortionEnd }] of steps.entries()) {
          timeMs += periods * 200;
          portions.at(-1)?.push(frameOf(seq, objects, timeMs));
          if (isPortionEnd) portions.push([]);
        }
        const alone = rules.map((rule) => {
          const evaluator = evaluatorOf(rule, task);
          const state = newRuleState();
          return portions.flat().flatMap((frame) => [...evaluator.frame(state, toEvaluated(frame))]);
        });
        const together = evaluated(rules, portions);
        for (const [index, rule] of rules.entries())
          expect(together.filter(({ id }) => id === rule.id).map(({ alarm }) => alarm)).toEqual(alone[index]);
      },
    ),
  );
});

const present = (facts: Partial<TaskRule> = {}, clearMs = 1000) =>
  ruleOf('yard', { kind: 'object_present', labels: ['person'], clear_ms: clearMs }, facts);
const walk = Array.from({ length: 20 }, (_, seq) => frameOf(seq, seq >= 5 && seq < 15 ? [object('person')] : []));
const shortly = (changes: RuleAlarm[]) =>
  changes.map(({ version, alarm }: { version: number; alarm: Alarm }) => [version, alarm.openedMs, alarm.closedBy]);

test('a rule that is newer than its task begins after the stored frames', () => {
  expect(shortly(evaluated([present({ storedMs: 2 })], [walk], { position: 10 }))).toEqual([[1, 2000, undefined]]);
  expect(shortly(evaluated([present({ storedMs: 0 })], [walk], { position: 10 }))).toEqual([[1, 1000, undefined]]);
});

test('a rule that is newer than the end of its task evaluates nothing', () => {
  const start = { state: emptyEvaluation(), position: 0, newest: undefined, createdMs: 1, endedMs: 5 };
  const ended = ruleOf('end', { kind: 'task_ended' });
  for (const [storedMs, raised] of [
    [4, 2],
    [5, 0],
  ] as const) {
    const evaluation = new Evaluation({ ...start, prepared: prepareRules([{ ...ended, storedMs }], task) });
    evaluation.end({ atMs: 5, status: 'failed' });
    expect(evaluation.changes).toHaveLength(raised);
  }
});

test('another version of a rule closes the alarm of the previous one', () => {
  const first = new Evaluation({
    prepared: prepareRules([present()], task),
    state: emptyEvaluation(),
    position: 0,
    newest: undefined,
    createdMs: 1,
    endedMs: undefined,
  });
  first.add(walk.slice(0, 10));
  const second = new Evaluation({
    prepared: prepareRules([present({ version: 2 })], task),
    state: first.state(),
    position: 10,
    newest: first.newest,
    createdMs: 1,
    endedMs: undefined,
  });
  second.add(walk.slice(10, 12));
  expect(shortly(second.changes)).toEqual([
    [1, 1000, 'rule'],
    [2, 2000, undefined],
  ]);
});

test('evaluates an ended task no more', () => {
  const start = { prepared: prepareRules([present()], task), position: 0, createdMs: 1, endedMs: undefined };
  const evaluation = new Evaluation({ ...start, state: emptyEvaluation(), newest: undefined });
  evaluation.add(walk.slice(0, 10));
  evaluation.end({ atMs: 1800, status: 'stopped' });
  const later = new Evaluation({ ...start, state: evaluation.state(), newest: evaluation.newest });
  later.add(walk.slice(10));
  expect([later.isIdle, later.hasChanged, later.changes]).toEqual([true, false, []]);
});

const heldFor = (for_ms: number) => [ruleOf('present', { kind: 'object_present', labels: ['person'], for_ms })];
/** As `walk`, of a worker whose clock is a minute slow from this frame on. */
const setBackFrom = (from: number) =>
  walk.map((frame) => (frame.seq < from ? frame : { ...frame, timeMs: frame.timeMs - 60_000 }));

test.each([
  ['in one portion', [setBackFrom(3)]],
  ['in portions', [setBackFrom(3).slice(0, 3), setBackFrom(3).slice(3, 7), setBackFrom(3).slice(7)]],
])('a worker whose clock is behind that of the one before raises alarms at once, %s', (_how, portions) => {
  expect(shortly(evaluated([present()], portions))).toEqual([[1, 1000 - 60_000, undefined]]);
});

test('time that a rule counts goes on over a clock that is set back, and an alarm never closes before it opened', () => {
  const [opened] = evaluated(heldFor(1000), [setBackFrom(8)]);
  expect(opened?.alarm).toMatchObject({ openedMs: 2200 - 60_000, evidence: { heldMs: 1001 } });
  const rest = Array.from({ length: 40 }, (_, index) => frameOf(20 + index, [], (20 + index) * 200 - 60_000));
  const changes = evaluated([present()], [setBackFrom(8).slice(0, 8), [...setBackFrom(8).slice(8), ...rest]]);
  expect(changes.map(({ alarm }) => [alarm.openedMs, alarm.closedMs])).toEqual([
    [1000, undefined],
    [1000, 1000],
  ]);
});

test('a clock that is set back does not hold back the next alarm', () => {
  const twice = [0, 1].flatMap((round) =>
    Array.from({ length: 40 }, (_, index) => {
      const seq = round * 40 + index;
      return frameOf(seq, index < 3 ? [object('person')] : [], seq * 200 - round * 60_000);
    }),
  );
  const rule = present({ minIntervalMs: 5_000 });
  expect(evaluated([rule], [twice.slice(0, 40), twice.slice(40)]).map(({ alarm }) => alarm.closedBy)).toEqual([
    undefined,
    'cleared',
    undefined,
    'cleared',
  ]);
});

test('tells by how much a clock was set back, and passes over frames that come late', () => {
  const start = { prepared: prepareRules([present()], task), position: 0, createdMs: 1, endedMs: undefined };
  const evaluation = new Evaluation({ ...start, state: emptyEvaluation(), newest: undefined });
  evaluation.add(walk.slice(0, 8));
  evaluation.add(walk.slice(2, 5));
  expect([evaluation.setBackMs, evaluation.newest]).toEqual([0, { seq: 7, timeMs: 1400 }]);
  evaluation.add(setBackFrom(8).slice(8, 9));
  expect([evaluation.setBackMs, evaluation.newest]).toEqual([59_800, { seq: 8, timeMs: 1600 - 60_000 }]);
});

test('crossings beyond what a minute of a task may have raise nothing and are counted in the next alarm', () => {
  const line = ruleOf('gate', {
    kind: 'line_crossed',
    labels: ['person'],
    line: [
      [0.5, 0],
      [0.5, 1],
    ],
    anchor: 'center',
  });
  /** Goes to and fro over the line, two frames on each side. */
  const toAndFro = Array.from({ length: 340 }, (_, seq) =>
    frameOf(seq, [object('person', 'a1-1', seq % 4 < 2 ? 0.4 : 0.6)]),
  );
  const start = { prepared: prepareRules([line], task), position: 0, createdMs: 1, endedMs: undefined };
  const evaluated = (state: ReturnType<Evaluation['state']>, frames: typeof toAndFro) => {
    const evaluation = new Evaluation({ ...start, state, newest: state.newest });
    evaluation.add(frames);
    return evaluation;
  };
  const [minute, next] = [toAndFro.slice(0, 300), toAndFro.slice(300)];
  const first = evaluated(emptyEvaluation(), minute);
  expect(first.changes).toHaveLength(2 * CROSSINGS_A_MINUTE);
  const { crossingsLeftOut } = first;
  expect(crossingsLeftOut).toBeGreaterThan(5);
  // In any pieces, and when they are evaluated again, the same alarms are raised.
  const half = evaluated(emptyEvaluation(), minute.slice(0, 120));
  const rest = evaluated(decodeEvaluation(encodeEvaluation(half.state())), minute.slice(120));
  expect([...half.changes, ...rest.changes]).toEqual(first.changes);
  const later = evaluated(decodeEvaluation(encodeEvaluation(first.state())), next);
  const [opened, closed] = later.changes;
  expect(opened?.alarm).toMatchObject({ suppressed: crossingsLeftOut });
  expect(closed?.alarm).toMatchObject({ alarmId: opened?.alarm.alarmId, closedBy: 'cleared' });
});

test('many rules on one flickering object raise no more alarms a minute than a task may have', () => {
  const rules = Array.from({ length: 200 }, (_, at) =>
    ruleOf(`zone${at}`, { kind: 'object_present', labels: ['person'], clear_ms: 1000 }, { minIntervalMs: 0 }),
  );
  const prepared = prepareRules(rules, task);
  /** Visible for two frames, absent for two seconds. */
  const flickering = Array.from({ length: 600 }, (_, seq) =>
    frameOf(seq, seq % 12 < 2 ? [object('person', 'a1-1', 0.5)] : []),
  );
  const start = { prepared, position: 0, createdMs: 1, endedMs: undefined };
  const evaluated = (state: ReturnType<Evaluation['state']>, frames: typeof flickering) => {
    const evaluation = new Evaluation({ ...start, state, newest: state.newest });
    evaluation.add(frames);
    return evaluation;
  };
  const openings = ({ changes }: Evaluation) => changes.filter(({ alarm }) => alarm.closedMs === undefined);
  const minute = evaluated(emptyEvaluation(), flickering.slice(0, 300));
  expect(openings(minute)).toHaveLength(LEVELS_A_MINUTE);
  // In any pieces, and when they are evaluated again, the same alarms are raised.
  const half = evaluated(emptyEvaluation(), flickering.slice(0, 14));
  const rest = evaluated(decodeEvaluation(encodeEvaluation(half.state())), flickering.slice(14, 300));
  expect([...half.changes, ...rest.changes]).toEqual(minute.changes);
  const next = evaluated(decodeEvaluation(encodeEvaluation(minute.state())), flickering.slice(300));
  expect(openings(next)).toHaveLength(LEVELS_A_MINUTE);
  const heldBack = minute.state().rules.reduce((sum, { state }) => sum + state.suppressed, 0);
  expect(heldBack).toBeGreaterThan(0);
  expect(openings(next).some(({ alarm }) => alarm.suppressed > 0)).toBe(true);
});

test('a silence is as long as its frames are missing, however wrong the clock of their worker is', () => {
  const down = ruleOf('down', { kind: 'source_down', for_ms: 60_000 });
  const start = { prepared: prepareRules([down], task), position: 0, createdMs: 1, endedMs: undefined };
  const now = 10_000_000;
  for (const offMs of [-3_600_000, -70_000, 0, 70_000, 3_600_000]) {
    const first = new Evaluation({ ...start, state: emptyEvaluation(), newest: undefined, nowMs: now + 4_000 });
    first.add([frameOf(0, [], now + offMs)]);
    const later = new Evaluation({
      ...start,
      state: decodeEvaluation(encodeEvaluation(first.state())),
      newest: first.newest,
      nowMs: now + 50_000,
    });
    later.silence(now + 54_000);
    expect(later.changes).toEqual([]);
    later.silence(now + 65_000);
    expect(later.changes.map(({ alarm }) => alarm.openedMs)).toEqual([now + offMs + 60_000]);
  }
});

test('many lines over a restless crowd leave a state that can be stored', () => {
  const rules = Array.from({ length: 200 }, (_, at) =>
    ruleOf(`gate${at}`, {
      kind: 'line_crossed',
      labels: ['person'],
      line: [
        [0.001 * at, 0],
        [0.5, 1],
      ],
    }),
  );
  /** Each frame has a hundred objects that no frame before it had. */
  const crowd = Array.from({ length: 12 }, (_, seq) =>
    frameOf(
      seq,
      Array.from({ length: 100 }, (_none, at) => object('person', `a1-${100 * seq + at}`, at / 100)),
    ),
  );
  const start = { position: 0, newest: undefined, createdMs: 1, endedMs: undefined };
  const evaluation = new Evaluation({ ...start, prepared: prepareRules(rules, task), state: emptyEvaluation() });
  evaluation.add(crowd);
  const stored = decodeEvaluation(encodeEvaluation(evaluation.state()));
  const followed = stored.rules.reduce((sum, { state }) => sum + Object.keys(state.paths).length, 0);
  expect(followed).toBe(10_000);
  expect(JSON.stringify(stored).length).toBeLessThan(4 * 1024 * 1024);
});

test('a rule that is edited during an outage reports it once, and closes the alarm with the next frame', () => {
  const down = (version: number, for_ms = 5_000) => ruleOf('down', { kind: 'source_down', for_ms }, { version });
  const open = (rule: TaskRule, before?: Evaluation) =>
    new Evaluation({
      prepared: prepareRules([rule], task),
      state: before ? decodeEvaluation(encodeEvaluation(before.state())) : emptyEvaluation(),
      position: 20,
      newest: before?.newest,
      createdMs: 1,
      endedMs: undefined,
    });
  const first = open(down(1));
  first.add([frameOf(0, [])]);
  first.silence(8_000);
  const second = open(down(2, 6_000), first);
  second.silence(90_000);
  expect(second.changes).toEqual([]);
  second.add([frameOf(1, [], 100_000)]);
  const [opened] = first.changes;
  expect(first.changes).toHaveLength(1);
  expect(second.changes.map(({ version, alarm }) => [version, alarm.alarmId, alarm.closedBy])).toEqual([
    [2, opened?.alarm.alarmId, 'cleared'],
  ]);
  const third = open(ruleOf('down', { kind: 'task_ended' }, { version: 3 }), first);
  expect(third.changes.map(({ alarm }) => alarm.closedBy)).toEqual(['rule']);
});
