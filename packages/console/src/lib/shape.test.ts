import { expect, test } from '@jest/globals';
import { HALVES, halfOf, inserted, insertionIndex, middleAfter, moved, pointAt, shapeProblem } from './shape.ts';
import type { Point } from './shape.ts';

const square: Point[] = [
  [0.2, 0.2],
  [0.8, 0.2],
  [0.8, 0.8],
  [0.2, 0.8],
];

test('a point never leaves the image', () => {
  expect(pointAt(-0.2, 1.7)).toEqual([0, 1]);
  expect(pointAt(0.12345, 0.5)).toEqual([0.123, 0.5]);
});

test('a half has a name until a corner moves', () => {
  expect(halfOf(HALVES.right)).toBe('right');
  expect(halfOf(moved(HALVES.right, 0, [0.4, 0]))).toBeUndefined();
  for (const points of Object.values(HALVES)) expect(shapeProblem('polygon', points)).toBeUndefined();
});

test('a new point bends the edge that is nearest', () => {
  expect(insertionIndex(square, [0.5, 0.1])).toBe(1);
  expect(insertionIndex(square, [0.1, 0.5])).toBe(4);
  expect(insertionIndex(square.slice(0, 2), [0.5, 0.1])).toBe(2);
});

test('points that are added by keyboard make a polygon, with any first point', () => {
  for (const first of [
    [0.5, 0.5],
    [1, 1],
    [0, 0],
  ] satisfies Point[]) {
    let points: Point[] = [first];
    for (let count = 0; count < 3; count += 1) {
      points = inserted(points, points.length, middleAfter(points, points.length - 1));
    }
    expect([first, shapeProblem('polygon', points)]).toEqual([first, undefined]);
  }
});

test('says why a shape is not one', () => {
  expect(shapeProblem('polygon', square)).toBeUndefined();
  expect(shapeProblem('polygon', square.slice(0, 2))).toBe('few');
  const [a, b, c, d] = square as [Point, Point, Point, Point];
  expect(shapeProblem('polygon', [a, c, b, d])).toBe('crossed');
  expect(shapeProblem('line', [a, b])).toBeUndefined();
  expect(shapeProblem('line', [a, a])).toBe('few');
});
