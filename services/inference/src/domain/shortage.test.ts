import { expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import { shortageOf, shortagePause } from './shortage.ts';

test('an attempt pauses three times, longer each time, and then ends', () => {
  expect([1, 2, 3, 4].map((count) => shortagePause(2_000, count))).toEqual([2_000, 6_000, 18_000, undefined]);
});

test('an outage of a store is no shortage', () => {
  expect(shortageOf(fail.sysUnavailable('no_local_space'))).toBe('no_local_space');
  expect(shortageOf(fail.sysUnavailable('object_store_unavailable'))).toBeUndefined();
  expect(shortageOf(new Error('ENOSPC'))).toBeUndefined();
});
