import { expect, test } from '@jest/globals';
import { createDetectionCosts } from './detection-costs.ts';

const work = (name: string, width: number, height: number) => ({ work: name, shape: { width, height } });

test('the cost of a detection follows the measurements for its shape', () => {
  const costs = createDetectionCosts();
  costs.add(work('model', 416, 416), 30);
  expect(costs.costMs(work('model', 416, 416))).toBe(30);
  for (let times = 0; times < 500; times += 1) costs.add(work('model', 416, 416), 60);
  expect(costs.costMs(work('model', 416, 416))).toBeCloseTo(60, 1);
});

test('the first detection, which includes the start-up cost, soon counts for little', () => {
  const costs = createDetectionCosts();
  costs.add(work('model', 416, 416), 150);
  for (let times = 0; times < 9; times += 1) costs.add(work('model', 416, 416), 50);
  expect(costs.costMs(work('model', 416, 416))).toBeCloseTo(60, 1);
});

test('the cost of a shape without measurements is estimated from its pixels', () => {
  const costs = createDetectionCosts();
  costs.add(work('model', 400, 400), 32);
  expect(costs.costMs(work('model', 800, 400))).toBeCloseTo(64, 6);
  expect(costs.costMs(work('another model', 400, 400))).toBe(0);
});
