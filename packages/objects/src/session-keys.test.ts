import { afterAll, afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { callUpstream } from '@vision/shared/upstream/call-upstream';
import { activeDeadline, limitWithin, withDeadline } from '@vision/shared/upstream/deadline';
import { renewedKeys } from './session-keys.ts';

const recorded = recordSpans();
const LIFE_MS = 60_000;
let asked = 0;
let isAway = false;
const give = async () => {
  asked += 1;
  if (isAway) throw new Error(`away, ${asked}`);
  const endsAt = new Date(Date.now() + LIFE_MS);
  return { accessKey: `key-${asked}`, secretKey: 'secret', sessionToken: 'session', endsAt };
};

beforeEach(() => {
  asked = 0;
  isAway = false;
  recorded.clear();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => void jest.useRealTimers());
afterAll(() => recorded.stop());

test('without keys a failure is repeated for 500 ms before the source is asked again', async () => {
  const keys = renewedKeys(give);
  isAway = true;
  for (let tries = 0; tries < 20; tries += 1) await expect(keys()).rejects.toThrow('away, 1');
  await jest.advanceTimersByTimeAsync(499);
  await expect(keys()).rejects.toThrow('away, 1');
  await jest.advanceTimersByTimeAsync(1);
  await expect(keys()).rejects.toThrow('away, 2');
  isAway = false;
  await jest.advanceTimersByTimeAsync(500);
  expect(await keys()).toMatchObject({ accessKey: 'key-3' });
});

test('a wall clock that is set back does not prolong the pause', async () => {
  const keys = renewedKeys(give);
  isAway = true;
  await expect(keys()).rejects.toThrow('away, 1');
  isAway = false;
  jest.setSystemTime(Date.now() - 3_600_000);
  await jest.advanceTimersByTimeAsync(500);
  expect(await keys()).toMatchObject({ accessKey: 'key-2' });
});

test('keys that cannot be renewed serve until they end, and are asked for again after ten seconds', async () => {
  const keys = renewedKeys(give);
  await keys();
  isAway = true;
  await jest.advanceTimersByTimeAsync(0.75 * LIFE_MS - 1);
  await keys();
  expect(asked).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  for (let tries = 0; tries < 3; tries += 1) expect(await keys()).toMatchObject({ accessKey: 'key-1' });
  expect(asked).toBe(2);
  await jest.advanceTimersByTimeAsync(10_000);
  expect(await keys()).toMatchObject({ accessKey: 'key-1' });
  expect(asked).toBe(3);
  await jest.advanceTimersByTimeAsync(5_001);
  await expect(keys()).rejects.toThrow('away, 4');
});

test('keys that have ended by a clock that is ahead are not asked for with each request', async () => {
  const keys = renewedKeys(async () => ({ ...(await give()), endsAt: new Date(Date.now() - LIFE_MS) }));
  for (let requests = 0; requests < 20; requests += 1) expect(await keys()).toMatchObject({ accessKey: 'key-1' });
  await jest.advanceTimersByTimeAsync(500);
  expect(await keys()).toMatchObject({ accessKey: 'key-2' });
});

test('a request for keys has neither the deadline nor the trace of the request that needed them first', async () => {
  const limits: unknown[] = [];
  const keys = renewedKeys(() =>
    callUpstream({ upstream: 'sts', operation: 'assume_role' }, async () => {
      limits.push({ ...limitWithin(10_000), left: activeDeadline()?.leftMs() });
      return give();
    }),
  );
  const deadline = { leftMs: () => 3, isBinding: true };
  await recorded.inRequest(() => withDeadline(deadline, keys));
  expect(limits).toEqual([{ limitMs: 10_000, isDeadline: false, left: undefined }]);
  expect(recorded.spans().map(({ name }) => name)).toEqual(['request']);
});
