import { expect, test } from '@jest/globals';
import { emptyMinute, mergeSeconds } from './minutes.ts';

test('merges the seconds of a minute without its labels, and leaves the minutes that it merges', () => {
  const known = { ...emptyMinute(), low: 0b01, high: 0b100 };
  const minutes = new Map([[0, known]]);
  const merged = new Map<number, { low: number; high: number }>(minutes);
  mergeSeconds(merged, 0, { low: 0b10, high: 0 });
  mergeSeconds(merged, 60_000, { low: 0b1, high: 0 });
  expect([...merged]).toEqual([
    [0, { low: 0b11, high: 0b100 }],
    [60_000, { low: 0b1, high: 0 }],
  ]);
  expect(minutes.get(0)).toBe(known);
  expect(known).toMatchObject({ low: 0b01, high: 0b100 });
});
