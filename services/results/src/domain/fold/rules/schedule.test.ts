import { expect, jest, test } from '@jest/globals';
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

test('a window in the hour that is skipped does not occur, one in the hour that repeats occurs twice', () => {
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

test('a long outage does not query the calendar repeatedly for each of its minutes', () => {
  const schedule = berlin([{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '24:00' }]);
  const asked = jest.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
  const from = at('2026-05-11T02:00:30Z');
  // The rules of a silent stream are evaluated every five seconds, from the beginning of its alarm on.
  for (let hours = 0; hours <= 24; hours += 1)
    expect(schedule.first('closed', from, from + hours * HOUR_MS)).toBeUndefined();
  expect(asked.mock.calls.length).toBeLessThanOrEqual(24 * 4 + 1);
  asked.mockRestore();
});

test.each(['Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Chatham'])(
  'the next moment in %s is the first minute that is open, or closed',
  (time_zone) => {
    const windows = [
      { days: ['sat', 'sun'], from: '01:07', to: '03:01' },
      { days: ['sun'], from: '23:59', to: '00:01' },
    ];
    const schedule = scheduleOf(ruleSchedule.parse({ time_zone, windows }));
    // Two days around a change of the clocks on either side of the equator, and around none.
    for (const begin of [
      '2026-03-28T00:00:20Z',
      '2026-04-04T00:00:20Z',
      '2026-10-31T00:00:20Z',
      '2026-06-13T00:00:20Z',
    ])
      for (const state of ['open', 'closed'] as const)
        for (let from = at(begin), until = from + 48 * HOUR_MS; from < until; from += 113 * 60_000) {
          let first: number | undefined = from;
          while (first < until && schedule.isOpen(first) !== (state === 'open'))
            first = (Math.floor(first / 60_000) + 1) * 60_000;
          expect(schedule.first(state, from, until)).toBe(first < until ? first : undefined);
        }
  },
);
