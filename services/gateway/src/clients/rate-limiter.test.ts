import { expect, test } from '@jest/globals';
import { createRateLimiter } from './rate-limiter.ts';
import type { RedisGuard } from './redis.ts';

const limits = { requests_per_second: 0.1, burst: 20 };

/** A Redis that returns the remaining tokens, or that does not answer. */
const redisThatSays = (says: () => string | undefined): RedisGuard => ({
  attempt: async <T>(_operation: string, command: (client: never) => Promise<T>) => {
    const left = says();
    return left === undefined ? undefined : command({ eval: async () => left } as never);
  },
  ping: async () => undefined,
  start: () => undefined,
  stop: () => undefined,
  check: { name: 'redis', readyWhileAway: true, ask: async () => undefined },
});

async function passed(limiter: ReturnType<typeof createRateLimiter>, requests: number): Promise<number> {
  const decisions = await Promise.all(Array.from({ length: requests }, () => limiter.take('someone', limits)));
  return decisions.filter(({ isAllowed }) => isAllowed).length;
}

test('a caller that has used its burst gets no second one when Redis stops answering', async () => {
  let left = 20;
  let isAway = false;
  const limiter = createRateLimiter(redisThatSays(() => (isAway ? undefined : String((left -= 1)))));
  expect(await passed(limiter, 15)).toBe(15);
  isAway = true;
  expect(await passed(limiter, 100)).toBe(5);
});

test('requests that passed while Redis was unavailable do not pass again when it is back', async () => {
  let isAway = true;
  const limiter = createRateLimiter(redisThatSays(() => (isAway ? undefined : '19')));
  expect(await passed(limiter, 100)).toBe(20);
  isAway = false;
  expect(await passed(limiter, 100)).toBe(0);
});

test('Redis refuses for all replicas, also what this one has let pass', async () => {
  const limiter = createRateLimiter(redisThatSays(() => '-0.25'));
  expect(await limiter.take('someone', limits)).toEqual({ isAllowed: false, remaining: 0, waitMs: 2_500 });
});

test('without Redis a caller receives the count of this replica', async () => {
  const limiter = createRateLimiter(redisThatSays(() => undefined));
  const first = await limiter.take('someone', limits);
  expect(first).toMatchObject({ isAllowed: true, remaining: 19 });
  expect(first.waitMs).toBeGreaterThan(9_000);
  expect(await passed(limiter, 19)).toBe(19);
  const refused = await limiter.take('someone', limits);
  expect(refused).toMatchObject({ isAllowed: false, remaining: 0 });
  expect(refused.waitMs).toBeLessThanOrEqual(10_000);
});
