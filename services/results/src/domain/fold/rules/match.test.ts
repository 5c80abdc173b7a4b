import { expect, test } from '@jest/globals';
import { ruleWhen } from '@vision/contracts/alarm-rules';
import type { RuleWhenOf } from '@vision/contracts/alarm-rules';
import { regionOf } from '@vision/contracts/region';
import fc from 'fast-check';
import { isInArea } from '../../object-filter.ts';
import { paceOf } from '../pace.ts';
import { matcherOf } from './match.ts';
import { frameOf } from './state.ts';
import type { SeenObject } from './state.ts';

const task = { taskId: 'task', threshold: 400_000, isLive: true, beginsMs: 0, pace: paceOf(5) };
const share = fc.integer({ min: 0, max: 20 }).map((step) => step / 20);
const label = fc.constantFrom('person', 'car', '__proto__');

const object: fc.Arbitrary<SeenObject> = fc.record({
  label,
  trackId: fc.constantFrom('a1-1', 'a1-2'),
  score: fc.integer({ min: 0, max: 10 }).map((step) => step * 100_000),
  cx: share,
  cy: share,
  width: share,
  height: share,
});

const rule = fc.record({
  labels: fc.array(label, { minLength: 1, maxLength: 3 }),
  min_score: fc.option(fc.constantFrom(0, 0.5, 0.55, 1), { nil: undefined }),
  region: fc.constantFrom(undefined, ...regions()),
  anchor: fc.constantFrom('center' as const, 'bottom_center' as const),
});

function regions(): [number, number][][] {
  return [
    [
      [0.25, 0.25],
      [0.75, 0.25],
      [0.75, 0.75],
      [0.25, 0.75],
    ],
    [
      [0.5, 0],
      [1, 1],
      [0, 1],
    ],
  ];
}

test('a rule counts the objects of its labels, from its score on, whose anchor is in its region, best first', () => {
  fc.assert(
    fc.property(rule, fc.array(object, { maxLength: 12 }), (asked, unordered) => {
      const objects = unordered.toSorted((a, b) => b.score - a.score);
      const when = ruleWhen.parse({ kind: 'object_present', ...asked }) as RuleWhenOf<'object_present'>;
      const least = asked.min_score === undefined ? task.threshold : asked.min_score * 1e6;
      const area = asked.region && { region: regionOf(asked.region), anchor: asked.anchor };
      const counted = objects.filter(
        (one) => new Set<string>(asked.labels).has(one.label) && one.score >= least && (!area || isInArea(area, one)),
      );
      const matched = matcherOf(when, task)(frameOf({ seq: 1, timeMs: 1 }, objects));
      expect(new Set(matched)).toEqual(new Set(counted));
      expect(matched.map(({ score }) => score)).toEqual(counted.map(({ score }) => score));
    }),
  );
});
