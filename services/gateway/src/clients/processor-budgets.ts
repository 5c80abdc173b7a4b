import { LRUCache } from 'lru-cache';
import { OWN_BUCKETS, refilled } from '../domain/bucket.ts';
import type { Bucket } from '../domain/bucket.ts';
import { countedMs, waitMs } from '../domain/processor-budget.ts';
import type { BudgetLimits, Spent } from '../domain/processor-budget.ts';
import type { RedisGuard } from './redis.ts';

export interface ProcessorBudgets {
  /** Milliseconds until the subject may send images again; 0 when it may now. */
  waitFor: (subject: string) => Promise<number>;
  /** Charges the cost of images to the budget of their subject, even if it exceeds the budget. Never fails. */
  charge: (subject: string, spent: Spent) => Promise<void>;
}

/**
 * Budgets of processor time for images of each subject, shared by all replicas. The cost is known only afterwards, so
 * it is charged afterwards, and a budget may be overdrawn. While Redis is unavailable each replica counts its own
 * requests.
 */
export function createProcessorBudgets(redis: RedisGuard, limits: BudgetLimits): ProcessorBudgets {
  const { perSecondMs, burstMs } = limits;
  const own = new LRUCache<string, Bucket>({ max: OWN_BUCKETS });
  const takeOwn = (subject: string, ms: number): number => {
    const bucket = refilled(own.get(subject), performance.now(), { perSecond: perSecondMs, most: burstMs });
    const left = bucket.left - ms;
    if (ms > 0) own.set(subject, { ...bucket, left });
    return left;
  };
  const takeFrom = async (subject: string, ms: number): Promise<number> => {
    const shared = await redis.attempt(
      'charge_processor_time',
      (client) => client.eval(TAKE, 1, `processor:${subject}`, ms, perSecondMs, burstMs) as Promise<string>,
    );
    return shared === undefined ? takeOwn(subject, ms) : Number(shared);
  };
  return {
    waitFor: async (subject) => waitMs(await takeFrom(subject, 0), limits),
    charge: async (subject, spent) => {
      const ms = countedMs(spent, limits);
      if (ms > 0) await takeFrom(subject, ms);
    },
  };
}

/**
 * By the clock of Redis. ARGV: milliseconds to take, refill per second, maximum. Returns the remainder as text, because
 * numbers of a script lose their fraction. A full budget needs no key.
 */
const TAKE = `
local take, rate, most = tonumber(ARGV[1]), tonumber(ARGV[2]) / 1000, tonumber(ARGV[3])
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local state = redis.call('hmget', KEYS[1], 'left', 'at')
local left = most
if state[1] then
  left = math.min(most, tonumber(state[1]) + math.max(0, now - tonumber(state[2])) * rate)
end
if take > 0 then
  left = left - take
  redis.call('hset', KEYS[1], 'left', string.format('%.3f', left), 'at', string.format('%.3f', now))
  redis.call('pexpire', KEYS[1], math.ceil((most - left) / rate) + 1000)
end
return string.format('%.3f', left)
`;
