import { expect, test } from '@jest/globals';
import { defaultLimits } from '@vision/contracts/limits';
import { changeLimits, effectiveLimits, limitsChange } from './limits.ts';

test('a subject without overrides has the defaults', () => {
  expect(effectiveLimits({})).toEqual(defaultLimits);
});

test('a change sets, resets and keeps', () => {
  const overrides = changeLimits({ burst: 7, active_tasks: 3 }, { burst: null, images_per_day: 0 });
  expect(overrides).toEqual({ active_tasks: 3, images_per_day: 0 });
});

test('unknown names and numbers out of bounds are refused, absent ones stay absent', () => {
  expect(limitsChange.parse({})).toEqual({});
  for (const change of [{ bursts: 1 }, { burst: -1 }, { burst: 1.5 }, { requests_per_second: 0 }, { burst: '5' }]) {
    expect(limitsChange.safeParse(change).success).toBe(false);
  }
});
