import { expect, test } from '@jest/globals';
import { refilled } from './bucket.ts';

const refill = { perSecond: 500, most: 30_000 };

test('a new bucket is full, and refills to no more than that', () => {
  expect(refilled(undefined, 5_000, refill)).toEqual({ left: 30_000, atMs: 5_000 });
  expect(refilled({ left: 29_900, atMs: 0 }, 60_000, refill).left).toBe(30_000);
});

test('a clock that goes back takes nothing away and gives nothing twice', () => {
  const back = refilled({ left: 100, atMs: 9_000 }, 1_000, refill);
  expect(back.left).toBe(100);
  expect(refilled(back, 9_000, refill).left).toBe(100);
});
