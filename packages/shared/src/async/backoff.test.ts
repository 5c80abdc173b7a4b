import { expect, test } from '@jest/globals';
import { backoff } from './backoff.ts';

const bounds = { minMs: 1000, maxMs: 30_000, jitter: 'full' } as const;

test('a backoff doubles from 200 ms to the maximum and keeps to its upper half', () => {
  for (const [failures, ceiling] of [
    [1, 200],
    [2, 400],
    [3, 800],
    [60, 5_000],
  ] as const) {
    const pause = backoff(failures, { maxMs: 5_000 });
    expect(pause).toBeGreaterThanOrEqual(ceiling / 2);
    expect(pause).toBeLessThanOrEqual(ceiling);
  }
});

test('with full jitter the ceiling doubles from one second to thirty', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 60].map((failures) => backoff(failures, bounds, () => 1))).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
  ]);
});

test('with full jitter the pause is spread over the whole range but is never nothing', () => {
  expect(backoff(9, bounds, () => 0)).toBe(500);
  expect(backoff(9, bounds, () => 0.5)).toBe(15_250);
});

test('without jitter the pause is the ceiling', () => {
  expect([1, 2, 6, 60].map((failures) => backoff(failures, { ...bounds, jitter: 'none' }))).toEqual([
    1000, 2000, 30_000, 30_000,
  ]);
});
