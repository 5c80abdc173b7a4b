import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { calibration, probabilityOf } from '@vision/contracts/calibration';
import { fitCurve } from './fit-curve.ts';
import type { Sample } from './fit-curve.ts';

/** Repeatable numbers 0..1. */
function* numbers(seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Boxes of a detector that is right with this probability. */
function boxesOf(probability: (raw: number) => number, count: number): Sample[] {
  const random = numbers(7);
  const next = () => random.next().value as number;
  return Array.from({ length: count }, () => {
    const raw = 0.35 + 0.6 * next();
    return { raw, isRight: next() < probability(raw) };
  });
}

test('the curve finds back how often boxes of a score are right', () => {
  const truth = (raw: number) => 1 / (1 + Math.exp(-18 * (raw - 0.5)));
  const curve = fitCurve(boxesOf(truth, 20_000));
  for (const raw of [0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.9]) {
    expect(Math.abs(probabilityOf(curve, raw) - truth(raw))).toBeLessThan(0.05);
  }
});

test('the registry accepts the curve of any boxes', () => {
  const sample = fc.record({ raw: fc.double({ min: 0, max: 1, noNaN: true }), isRight: fc.boolean() });
  fc.assert(
    fc.property(fc.array(sample, { minLength: 10, maxLength: 300 }), (samples) => {
      const curve = fitCurve(samples, { minCount: 5, minSlope: 0.05 });
      const labels = { '*': { curve, measured: 'made up' } };
      expect(calibration.safeParse({ version: '1', floor: 0.35, labels }).error).toBeUndefined();
    }),
  );
});

test('a detector whose higher scores are no better gets one rate, not a falling curve', () => {
  const curve = fitCurve(
    boxesOf((raw) => 0.9 - 0.4 * raw, 4_000),
    { minCount: 40, minSlope: 0.05 },
  );
  expect(probabilityOf(curve, 0.6)).toBeCloseTo(0.64, 1);
  expect(probabilityOf(curve, 0.7)).toBeGreaterThan(probabilityOf(curve, 0.5));
});

test('boxes that are all right are still not certain', () => {
  const curve = fitCurve(boxesOf(() => 1, 200));
  expect(probabilityOf(curve, 0.6)).toBeLessThan(0.999);
  expect(probabilityOf(curve, 0.6)).toBeGreaterThan(0.95);
});

test('a handful of boxes gives no curve', () => {
  expect(() => fitCurve(boxesOf(() => 1, 79))).toThrow('79 boxes are too few for a curve: 80 or more are needed');
});
