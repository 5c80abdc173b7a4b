import { expect, test } from '@jest/globals';
import { createLiveClock } from './live-clock.ts';

test('the rhythm is the one of the stream, the date is the one of its first frame', () => {
  const clock = createLiveClock();
  expect([clock.timeOf(500, 1_000_000), clock.timeOf(700, 1_000_390), clock.timeOf(900, 1_000_400)]).toEqual([
    1_000_000, 1_000_200, 1_000_400,
  ]);
});

test('a jump of the stream clock sets a new anchor and time never runs back', () => {
  const clock = createLiveClock();
  clock.timeOf(0, 1_000_000);
  expect(clock.timeOf(9_000_000, 1_000_200)).toBe(1_000_200);
  expect(clock.timeOf(0, 1_000_400)).toBe(1_000_400);
});

test('of a burst only the first frame is taken, and the rhythm is that of what follows', () => {
  const clock = createLiveClock();
  expect([0, 200, 400, 600].map((pts) => clock.timeOf(pts, 1_000_000 + pts / 100))).toEqual([
    1_000_000,
    undefined,
    undefined,
    undefined,
  ]);
  expect([clock.timeOf(800, 1_000_206), clock.timeOf(1000, 1_000_410)]).toEqual([1_000_206, 1_000_406]);
});
