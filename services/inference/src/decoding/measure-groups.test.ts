import { expect, jest, test } from '@jest/globals';
import { measureGroups } from './measure-groups.ts';

test('the time of a group that is gone counts as it was last read, and what it may have used since then', () => {
  jest.useFakeTimers();
  const times = new Map([
    [10, 40],
    [20, 100],
    [30, 5_000],
  ]);
  const meter = measureGroups(() => times);
  meter.add(10);
  meter.add(20);
  jest.advanceTimersByTime(500);
  times.delete(20);
  times.set(10, 60);
  jest.advanceTimersByTime(500);
  jest.advanceTimersByTime(200);
  expect(meter.end(false)).toBe(60 + 100 + 200);
  jest.useRealTimers();
});

test('a last reading that found the groups is the whole of it', () => {
  const times = new Map([[10, 40]]);
  const meter = measureGroups(() => times);
  meter.add(10);
  times.set(10, 90);
  meter.read();
  expect(meter.end(true)).toBe(90);
});
