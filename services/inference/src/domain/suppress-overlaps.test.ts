import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Candidate } from './candidate.ts';
import { overlap, suppressOverlaps } from './suppress-overlaps.ts';

const box = (score: number, left: number, classIndex = 0): Candidate => ({
  classIndex,
  score,
  left,
  top: 0,
  right: left + 10,
  bottom: 10,
});

test('overlap is the shared area over the joint area', () => {
  expect(overlap(box(1, 0), box(1, 0))).toBe(1);
  expect(overlap(box(1, 0), box(1, 5))).toBeCloseTo(1 / 3);
  expect(overlap(box(1, 0), box(1, 10))).toBe(0);
});

test('of boxes of one class that overlap too much the best stays', () => {
  expect(suppressOverlaps([box(0.5, 1), box(0.9, 0), box(0.6, 20)], 0.6, 10)).toEqual([box(0.9, 0), box(0.6, 20)]);
});

test('boxes of different classes do not suppress each other', () => {
  expect(suppressOverlaps([box(0.5, 0, 1), box(0.9, 0, 0)], 0.6, 10)).toHaveLength(2);
});

test('no more than the given number of objects stay', () => {
  expect(suppressOverlaps([box(0.5, 0), box(0.9, 50), box(0.7, 100)], 0.6, 2).map(({ score }) => score)).toEqual([
    0.9, 0.7,
  ]);
});

test('what stays is ordered, no two of one class overlap too much, and everything dropped had a better neighbour', () => {
  const candidate = fc.record({
    classIndex: fc.integer({ min: 0, max: 2 }),
    score: fc.double({ min: 0, max: 1, noNaN: true }),
    left: fc.integer({ min: 0, max: 40 }),
  });
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 40 }), (parts) => {
      const candidates = parts.map(({ score, left, classIndex }) => box(score, left, classIndex));
      const kept = suppressOverlaps(candidates, 0.5, 100);
      const clash = (a: Candidate, b: Candidate) => a.classIndex === b.classIndex && overlap(a, b) > 0.5;
      expect(kept.map(({ score }) => score)).toEqual(kept.map(({ score }) => score).toSorted((a, b) => b - a));
      expect(kept.some((a, i) => kept.some((b, j) => i < j && clash(a, b)))).toBe(false);
      const dropped = candidates.filter((one) => !kept.includes(one));
      expect(dropped.every((one) => kept.some((other) => other.score >= one.score && clash(other, one)))).toBe(true);
    }),
  );
});
