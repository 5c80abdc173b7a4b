import { LRUCache } from 'lru-cache';
import type { SubjectLimits } from '@vision/contracts/limits';
import { OWN_BUCKETS, refilled } from '../domain/bucket.ts';
import type { Bucket, Refill } from '../domain/bucket.ts';
import type { RedisGuard } from './redis.ts';

interface RateDecision {
  isAllowed: boolean;
  remaining: number;
  /** Time until the bucket is full again, or, after a refusal, until the next request is allowed. */
  waitMs: number;
}

export interface RateLimiter {
  take: (subject: string, limits: Pick<SubjectLimits, 'requests_per_second' | 'burst'>) => Promise<RateDecision>;
}

const CLOSED_MS = 60_000;

/**
 * A token bucket per subject, shared by all replicas: `burst` tokens, refilled with `requests_per_second`. Each replica
 * also counts its own admitted requests, so that no caller gets a second burst from it when Redis does not answer in
 * time; while Redis is unavailable only that count applies, and the limit holds per replica.
 */
export function createRateLimiter(redis: RedisGuard): RateLimiter {
  const own = new LRUCache<string, Bucket>({ max: OWN_BUCKETS });
  return {
    take: async (subject, { requests_per_second: perSecond, burst: most }) => {
      if (most < 1) return { isAllowed: false, remaining: 0, waitMs: CLOSED_MS };
      const refill = { perSecond, most };
      const askedMs = performance.now();
      const shared = await redis.attempt('take_token', async (client) => {
        const taken = await client.eval(TAKE, 1, `rate:${subject}`, perSecond, most);
        return decisionOf(Number(taken), refill);
      });
      if (shared && !shared.isAllowed) return shared;
      return takeOwn(own, { subject, refill, askedMs }) ?? shared ?? ownDecision(own.get(subject), refill);
    },
  };
}

/**
 * Takes a token from this replica's own count, or returns why there is none. The token was taken when Redis was queried
 * and may have been refilled since, so requests that Redis allows are never refused here, however long it takes.
 */
function takeOwn(
  own: LRUCache<string, Bucket>,
  { subject, refill, askedMs }: { subject: string; refill: Refill; askedMs: number },
): RateDecision | undefined {
  const bucket = refilled(own.get(subject), askedMs, refill);
  const left = bucket.left + (Math.max(0, performance.now() - bucket.atMs) * refill.perSecond) / 1000;
  if (left < 1) return decisionOf(left - 1, refill);
  own.set(subject, { ...bucket, left: bucket.left - 1 });
  return undefined;
}

const ownDecision = (bucket: Bucket | undefined, refill: Refill): RateDecision =>
  decisionOf(Math.max(0, bucket?.left ?? 0), refill);

/** Limits for a caller with this number of tokens; a negative number is the missing part of one token. */
function decisionOf(left: number, { perSecond, most }: Refill): RateDecision {
  const isAllowed = left >= 0;
  const missing = isAllowed ? most - left : -left;
  return { isAllowed, remaining: Math.max(0, Math.floor(left)), waitMs: Math.ceil((missing * 1000) / perSecond) };
}

/**
 * By the clock of Redis. ARGV: refill per second, maximum tokens. Takes a token and returns the remainder, or,
 * negative, the missing part; as text, because numbers of a script lose their fraction.
 */
const TAKE = `
local rate, most = tonumber(ARGV[1]) / 1000, tonumber(ARGV[2])
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local state = redis.call('hmget', KEYS[1], 'tokens', 'at')
local tokens = most
if state[1] then
  tokens = math.min(most, tonumber(state[1]) + math.max(0, now - tonumber(state[2])) * rate)
end
tokens = tokens - 1
if tokens >= 0 then
  redis.call('hset', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now))
  redis.call('pexpire', KEYS[1], math.ceil(most / rate) + 1000)
end
return string.format('%.6f', tokens)
`;
