import { expect, test } from '@jest/globals';
import { ruleSchedule } from '@vision/contracts/alarm-rules';
import { scheduleOf } from './schedule.ts';

const HOUR_MS = 3_600_000;
const berlin = (windows: unknown) => scheduleOf(ruleSchedule.parse({ time_zone: 'Europe/Berlin', windows }));
const at = (text: string) => Date.parse(text);

/** Hours in which the schedule is open, counted by the minute. */
const openHours = (schedule: ReturnType<typeof berlin>, from: string, hours: number) => {
  let minutes = 0;
  for (let minute = 0; minute < 60 * hours; minute += 1) if (schedule.isOpen(at(from) + minute * 60_000)) minutes += 1;
  return minutes / 60;
};

test('a window over midnight belongs to the day on which it begins', () => {
  const schedule = berlin([{ days: ['fri'], from: '18:00', to: '06:00' }]);
  // 2026-03-13 is a Friday; Berlin is one hour ahead.
  expect(
    ['2026-03-13T16:59:59Z', '2026-03-13T17:00:00Z', '2026-03-14T04:59:59Z', '2026-03-14T05:00:00Z'].map((text) =>
      schedule.isOpen(at(text)),
    ),
  ).toEqual([false, true, true, false]);
  expect(schedule.isOpen(at('2026-03-13T02:00:00Z'))).toBe(false);
});

test('a night is an hour shorter when clocks go forward, an hour longer when they go back', () => {
  const nights = berlin([{ days: ['sat'], from: '18:00', to: '06:00' }]);
  expect(openHours(nights, '2026-03-21T12:00:00Z', 24)).toBe(12);
  expect(openHours(nights, '2026-03-28T12:00:00Z', 24)).toBe(11);
  expect(openHours(nights, '2026-10-24T12:00:00Z', 24)).toBe(13);
});

test('a window in the hour that is left out does not occur, one in the hour that repeats occurs twice', () => {
  const small = berlin([{ days: ['sun'], from: '02:15', to: '02:45' }]);
  expect(openHours(small, '2026-03-28T22:00:00Z', 24)).toBe(0);
  expect(openHours(small, '2026-10-24T22:00:00Z', 24)).toBe(1);
});

test('finds the next moment that is open, or closed', () => {
  const schedule = berlin([{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '08:00', to: '24:00' }]);
  const from = at('2026-03-13T02:00:30Z');
  expect(schedule.first('open', from, from + 24 * HOUR_MS)).toBe(at('2026-03-13T07:00:00Z'));
  expect(schedule.first('closed', from, from + 24 * HOUR_MS)).toBe(from);
  expect(schedule.first('open', from, from + HOUR_MS)).toBeUndefined();
});
