import { expect, test } from '@jest/globals';
import { createPace } from './pace.ts';

const limits = { minBytesPerS: 8192, windowMs: 30_000 };
/** Whether a client with these bytes per second is ever too slow. */
const isCut = (bytesOfSecond: (second: number) => number, seconds = 300) => {
  const pace = createPace(limits);
  return Array.from({ length: seconds }, (_, second) => pace.add(1000, bytesOfSecond(second))).includes(true);
};

test('silence is too slow after the window, not before', () => {
  expect(isCut(() => 0, 29)).toBe(false);
  expect(isCut(() => 0, 30)).toBe(true);
});

test('a drip is too slow, the least allowed pace is not', () => {
  expect(isCut(() => 1)).toBe(true);
  expect(isCut(() => 8191)).toBe(true);
  expect(isCut(() => 8192)).toBe(false);
});

test('bursts are measured by their average', () => {
  expect(isCut((second) => (second % 10 === 0 ? 100_000 : 0))).toBe(false);
  expect(isCut((second) => (second % 10 === 0 ? 50_000 : 0))).toBe(true);
});

test('a fast beginning does not pay for a slow end', () => {
  expect(isCut((second) => (second < 10 ? 10_000_000 : 0))).toBe(true);
});
