import { expect, test } from '@jest/globals';
import { createTimeline } from './timeline.ts';

function times(ticksPerSecond: number, timestamps: number[]): number[] {
  const timeOf = createTimeline(ticksPerSecond);
  const all = timestamps.map((timestamp) => timeOf(timestamp));
  return all.map((time) => time - (all[0] ?? 0));
}

test('times are exact to the millisecond, across the wrap and for frames out of order', () => {
  expect(times(90_000, [0, 3600, 10_800, 7200])).toEqual([0, 40, 120, 80]);
  expect(times(90_000, [2 ** 32 - 3600, 0, 3600])).toEqual([0, 40, 80]);
  expect(times(1000, [2 ** 32 - 10, 30])).toEqual([0, 40]);
  // 29.97 a second: rounding does not add up.
  const many = Array.from({ length: 3000 }, (_, index) => index * 3003);
  expect(times(90_000, many).at(-1)).toBe(Math.round((2999 * 3003) / 90));
});

test('a clock that jumps goes on a frame later, and no time is ever negative', () => {
  expect(times(90_000, [0, 3600, 2_000_000_000, 2_000_003_600])).toEqual([0, 40, 80, 120]);
  expect(times(90_000, [2_000_000_000, 3600, 7200])).toEqual([0, 40, 80]);
  const timeOf = createTimeline(1000);
  const backwards = Array.from({ length: 100 }, (_, index) => timeOf(2 ** 31 - index * 9000));
  expect(Math.min(...backwards)).toBeGreaterThanOrEqual(0);
});
