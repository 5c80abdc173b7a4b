import { expect, test } from '@jest/globals';
import { ALARMS_A_MINUTE, createAlarmPace } from './alarm-pace.ts';

test('a subject has so many alarms a minute, whatever others have', () => {
  let nowMs = 0;
  const pace = createAlarmPace(() => nowMs);
  const taken = (subject: string) =>
    Array.from({ length: 2 * ALARMS_A_MINUTE }, () => pace.take(subject)).filter(Boolean).length;
  expect([taken('a'), taken('a'), taken('b')]).toEqual([ALARMS_A_MINUTE, 0, ALARMS_A_MINUTE]);
  nowMs += 6_000;
  expect(taken('a')).toBe(ALARMS_A_MINUTE / 10);
  nowMs += 600_000;
  expect(taken('a')).toBe(ALARMS_A_MINUTE);
});
