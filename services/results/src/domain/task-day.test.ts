import { expect, test } from '@jest/globals';
import { addDays, dayOfTask, firstIdOfDay } from './task-day.ts';

test.each([
  // The example of RFC 9562, appendix A.6: 2022-02-22T19:22:22Z.
  ['017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '2022-02-22'],
  ['017F22E2-79B0-7CC3-98C4-DC0C0C07398F', '2022-02-22'],
  ['00000000-0000-7000-8000-000000000000', '1970-01-01'],
])('the task %s was created on %s', (id, day) => {
  expect(dayOfTask(id)).toBe(day);
});

test.each(['9b2e4f3a-7c1d-4e5f-8a9b-0c1d2e3f4a5b', 'ffffffff-ffff-7fff-bfff-ffffffffffff', 'x', ''])(
  '%j says no day',
  (id) => {
    expect(dayOfTask(id)).toBeUndefined();
  },
);

test('days are added across months and years', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(addDays('2026-03-01', -1)).toBe('2026-02-28');
});

test('ids of a day begin at its first id', () => {
  const first = firstIdOfDay('2022-02-22');
  expect(first < '017f22e2-79b0-7cc3-98c4-dc0c0c07398f').toBe(true);
  expect(firstIdOfDay('2022-02-23') > '017f22e2-79b0-7cc3-98c4-dc0c0c07398f').toBe(true);
});
