import { expect, test } from '@jest/globals';
import { callUpstream } from './call-upstream.ts';
import { createRecentTimeouts, recentTimeouts } from './recent-timeouts.ts';

const timeout = { upstream: 'postgres', operation: 'select', outcome: 'total_timeout' } as const;

test('only time-outs count, and for a minute', () => {
  let now = 1_000_000;
  const recent = createRecentTimeouts(() => now);
  recent.note(timeout);
  recent.note({ ...timeout, outcome: 'answered_5xx' });
  now += 30_000;
  recent.note(timeout);
  recent.note({ ...timeout, operation: 'insert', outcome: 'pool_timeout' });
  expect(recent.read()).toEqual([
    { upstream: 'postgres', operation: 'select', timeouts: 2 },
    { upstream: 'postgres', operation: 'insert', timeouts: 1 },
  ]);
  now += 32_000;
  expect(recent.read()).toMatchObject([{ operation: 'select', timeouts: 1 }, { operation: 'insert' }]);
  now += 60_000;
  expect(recent.read()).toEqual([]);
});

test('every call to an upstream that times out is among those of the process', async () => {
  const late = Object.assign(new Error('late'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
  const call = callUpstream({ upstream: 'quota', operation: 'reserve' }, () => Promise.reject(late));
  await expect(call).rejects.toBe(late);
  expect(recentTimeouts.read()).toContainEqual({ upstream: 'quota', operation: 'reserve', timeouts: 1 });
});
