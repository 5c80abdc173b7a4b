import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  calibration,
  findCurve,
  lowestScoreOf,
  narrowedTo,
  probabilityOf,
  rawScoreOf,
  toScore,
} from './calibration.ts';
import type { Calibration, Curve } from './calibration.ts';

const curve: Curve = [
  [0, 0],
  [0.35, 0.08],
  [0.6, 0.85],
  [1, 1],
];
const measured = 'on ten pictures';
const of = (labels: Calibration['labels']): Calibration => ({ version: '1', floor: 0.35, labels });

test('between two points the probability is on the line through them', () => {
  expect(probabilityOf(curve, 0.35)).toBe(0.08);
  expect(probabilityOf(curve, 0.475)).toBeCloseTo(0.465, 12);
  expect([0, 1].map((raw) => probabilityOf(curve, raw))).toEqual([0, 1]);
});

test('scores stay as they are on the straight line, to the last digit', () => {
  const line: Curve = [
    [0, 0],
    [1, 1],
  ];
  for (const raw of [0.1, 0.35, 0.7, 0.8123]) expect(probabilityOf(line, raw)).toBe(raw);
});

/** Curves with up to eight points between the corners, each a thousandth or more from the next. */
const anyCurve = fc
  .tuple(fc.uniqueArray(fc.integer({ min: 1, max: 999 }), { maxLength: 8 }), fc.integer({ min: 0, max: 1_000_000 }))
  .map(([places, seed]): Curve => {
    const raws = places.toSorted((a, b) => a - b);
    const heights = raws.map((_, index) => ((seed * (index + 7)) % 997) + 1);
    const distinct = [...new Set(heights)].toSorted((a, b) => a - b);
    const inner = raws.slice(0, distinct.length).map((raw, index): [number, number] => {
      return [raw / 1000, (distinct[index] ?? 0) / 1000];
    });
    return [[0, 0], ...inner, [1, 1]];
  });

test('a published score leads back to itself by the raw score behind it', () => {
  fc.assert(
    fc.property(anyCurve, fc.double({ min: 0, max: 1, noNaN: true }), (points, raw) => {
      const published = toScore(probabilityOf(points, raw));
      expect(toScore(probabilityOf(points, rawScoreOf(points, published)))).toBe(published);
    }),
  );
});

test('a higher raw score is never published as a lower one', () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(anyCurve, unit, unit, (points, a, b) => {
      const [low, high] = a < b ? [a, b] : [b, a];
      expect(toScore(probabilityOf(points, low))).toBeLessThanOrEqual(toScore(probabilityOf(points, high)));
    }),
  );
});

test.each([
  [
    'stays level',
    [
      [0, 0],
      [0.4, 0.5],
      [0.6, 0.5],
      [1, 1],
    ],
  ],
  [
    'falls',
    [
      [0, 0],
      [0.4, 0.6],
      [0.6, 0.5],
      [1, 1],
    ],
  ],
  [
    'goes back',
    [
      [0, 0],
      [0.6, 0.5],
      [0.4, 0.6],
      [1, 1],
    ],
  ],
  [
    'begins elsewhere',
    [
      [0, 0.1],
      [1, 1],
    ],
  ],
  [
    'ends elsewhere',
    [
      [0, 0],
      [1, 0.9],
    ],
  ],
  [
    'leaves the unit square',
    [
      [0, 0],
      [0.5, 1.2],
      [1, 1],
    ],
  ],
  ['has one point', [[0, 0]]],
])('a curve that %s is refused', (_case, points) => {
  expect(calibration.safeParse(of({ '*': { curve: points as Curve, measured } })).success).toBe(false);
});

test('a label without a curve has that of "*", and a word of JavaScript is a label like any other', () => {
  const one = of({ person: { curve, measured } });
  expect(findCurve(one, 'person')).toBe(curve);
  expect(findCurve(one, 'car')).toBeUndefined();
  expect(findCurve(one, 'constructor')).toBeUndefined();
  expect(findCurve(of({ '*': { curve, measured } }), 'constructor')).toBe(curve);
});

test('the lowest score of a label is the image of the floor', () => {
  expect(lowestScoreOf(of({ '*': { curve, measured } }), 'cow')).toBe(0.08);
});

test('a job keeps the curves of its labels and that of all others', () => {
  const entry = { curve, measured };
  const kept = narrowedTo(of({ person: entry, car: entry, '*': entry }), ['person', 'boat']);
  expect(Object.keys(kept.labels)).toEqual(['person', '*']);
});
