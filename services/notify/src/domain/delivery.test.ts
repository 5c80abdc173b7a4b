import { expect, test } from '@jest/globals';
import { AT_ONCE, nextAttemptIn, retryAfterOf, slotsFor } from './delivery.ts';

const middle = () => 0.5;
const HOUR = 3_600_000;

test('pauses grow from 5 s to 8 h and end within a day', () => {
  const pauses: number[] = [];
  let ageMs = 0;
  for (;;) {
    const pause = nextAttemptIn({ failures: pauses.length + 1, ageMs }, middle);
    if (pause === undefined) break;
    pauses.push(pause);
    ageMs += pause;
  }
  const seconds = pauses.map((ms) => ms / 1000);
  expect(seconds).toEqual([5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_800]);
  expect(ageMs).toBeLessThanOrEqual(24 * HOUR);
});

test('pauses are spread by a fifth', () => {
  expect(nextAttemptIn({ failures: 1, ageMs: 0 }, () => 0)).toBe(4000);
  expect(nextAttemptIn({ failures: 1, ageMs: 0 }, () => 1)).toBe(6000);
});

test('Retry-After makes a pause longer, to an hour at most, and never shorter', () => {
  expect(nextAttemptIn({ failures: 1, ageMs: 0, retryAfterMs: 60_000 }, middle)).toBe(60_000);
  expect(nextAttemptIn({ failures: 1, ageMs: 0, retryAfterMs: 10 * HOUR }, middle)).toBe(HOUR);
  expect(nextAttemptIn({ failures: 5, ageMs: 0, retryAfterMs: 1000 }, middle)).toBe(1_800_000);
});

test('no attempt begins later than 24 h after the first', () => {
  expect(nextAttemptIn({ failures: 1, ageMs: 24 * HOUR - 4000 }, middle)).toBeUndefined();
});

test.each([
  ['120', 120_000],
  ['0', 0],
  ['Wed, 25 Nov 2026 12:00:30 GMT', 30_000],
  ['Wed, 25 Nov 2026 11:00:00 GMT', 0],
  ['', undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['99999999999', undefined],
  ['soon', undefined],
  ['Wed, soon', undefined],
])('reads Retry-After %j as %p ms', (header, ms) => {
  expect(retryAfterOf(header, Date.parse('2026-11-25T12:00:00Z'))).toBe(ms);
});

test('the last slots of a process are for subjects with hardly any running webhooks', () => {
  const slotsOfASubject = (underWay: number) => slotsFor(underWay).perSubject;
  expect(slotsFor(0)).toEqual({ limit: 192, perEndpoint: AT_ONCE.endpoint, perSubject: AT_ONCE.subject });
  expect([slotsOfASubject(191), slotsOfASubject(192), slotsOfASubject(255)]).toEqual([16, 2, 2]);
  expect([191, 192, 255, 256, 300].map((underWay) => slotsFor(underWay).limit)).toEqual([1, 64, 1, 0, 0]);
});
