import { expect, test } from '@jest/globals';
import { resetsAt } from './quota-day.ts';

test.each([
  ['2026-03-01', '2026-03-02T00:00:00+08:00'],
  ['2028-02-28', '2028-02-29T00:00:00+08:00'],
  ['2026-12-31', '2027-01-01T00:00:00+08:00'],
])('the quota of %s is whole again at %s', (day, reset) => {
  expect(resetsAt(day)).toBe(reset);
});

test('the reset is at 16:00 UTC of the day itself', () => {
  expect(new Date(resetsAt('2026-03-01')).toISOString()).toBe('2026-03-01T16:00:00.000Z');
});
