import { expect, test } from '@jest/globals';
import { addDays, firstIdOfDay } from './task-day.ts';

test('days are added across months and years', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(addDays('2026-03-01', -1)).toBe('2026-02-28');
});

test('ids of a day begin at its first id', () => {
  const first = firstIdOfDay('2022-02-22');
  expect(first < '017f22e2-79b0-7cc3-98c4-dc0c0c07398f').toBe(true);
  expect(firstIdOfDay('2022-02-23') > '017f22e2-79b0-7cc3-98c4-dc0c0c07398f').toBe(true);
});
