import { expect, test } from '@jest/globals';
import { fullJitter } from './full-jitter.ts';

const bounds = { minMs: 1000, maxMs: 30_000 };

test('the ceiling doubles from one second to thirty', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 60].map((failures) => fullJitter(failures, bounds, () => 1))).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
  ]);
});

test('the pause is spread over the whole range but is never nothing', () => {
  expect(fullJitter(9, bounds, () => 0)).toBe(500);
  expect(fullJitter(9, bounds, () => 0.5)).toBe(15_250);
});
