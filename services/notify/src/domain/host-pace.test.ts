import { expect, test } from '@jest/globals';
import { createHostPace } from './host-pace.ts';

test('requests up to the rate per second begin at once, the others follow at that rate', () => {
  let now = 100_000;
  const { delayOf } = createHostPace(10, () => now);
  const first = Array.from({ length: 10 }, () => delayOf('a.example'));
  expect(first.every((delay) => delay === 0)).toBe(true);
  expect(Math.round(delayOf('a.example'))).toBe(100);
  expect(Math.round(delayOf('a.example'))).toBe(200);
  expect(delayOf('b.example')).toBe(0);
  now += 5_000;
  expect(delayOf('a.example')).toBe(0);
});
