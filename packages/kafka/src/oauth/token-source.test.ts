import { afterAll, afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { callUpstream } from '@vision/shared/upstream/call-upstream';
import { activeDeadline, limitWithin, withDeadline } from '@vision/shared/upstream/deadline';
import { createTokenSource, MIN_LEFT_MS } from './token-source.ts';

const recorded = recordSpans();
const quiet = () => undefined;
const LIFE_MS = 60_000;
let given = 0;
const give = async () => {
  given += 1;
  return { value: `token-${given}`, lifeMs: LIFE_MS };
};

beforeEach(() => {
  given = 0;
  recorded.clear();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => void jest.useRealTimers());
afterAll(() => recorded.stop());

test('a token that is used is renewed at 80 % of its life', async () => {
  const tokens = createTokenSource(give, MIN_LEFT_MS);
  await tokens.get(quiet);
  await jest.advanceTimersByTimeAsync(0.8 * LIFE_MS - 1);
  expect([await tokens.get(quiet), given]).toEqual(['token-1', 1]);
  await jest.advanceTimersByTimeAsync(1);
  expect(given).toBe(2);
  expect(await tokens.get(quiet)).toBe('token-2');
});

test('a token that is not used is not renewed again', async () => {
  const tokens = createTokenSource(give, MIN_LEFT_MS);
  await tokens.get(quiet);
  await jest.advanceTimersByTimeAsync(3 * LIFE_MS);
  expect(given).toBe(2);
  expect(await tokens.get(quiet)).toBe('token-3');
  await jest.advanceTimersByTimeAsync(0.8 * LIFE_MS);
  expect(given).toBe(4);
});

test('a request for a token has neither the deadline nor the trace of the request that needed it first', async () => {
  const limits: unknown[] = [];
  const fetch = () =>
    callUpstream({ upstream: 'oauth', operation: 'fetch_token' }, async () => {
      limits.push({ ...limitWithin(5_000), left: activeDeadline()?.leftMs() });
      return give();
    });
  const tokens = createTokenSource(fetch, MIN_LEFT_MS);
  const deadline = { leftMs: () => 3, isBinding: true };
  await recorded.inRequest(() => withDeadline(deadline, () => tokens.get(quiet)));
  // The timer was set by that request.
  await jest.advanceTimersByTimeAsync(0.8 * LIFE_MS);
  const own = { limitMs: 5_000, isDeadline: false, left: undefined };
  expect(limits).toEqual([own, own]);
  expect(recorded.spans().map(({ name }) => name)).toEqual(['request']);
});
