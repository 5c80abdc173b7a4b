import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Redis } from 'ioredis';
import type { SubjectLimits } from '@vision/shared/contracts/limits';
import type { RedisGuard } from './redis.ts';

interface RateDecision {
  isAllowed: boolean;
  remaining: number;
  /** Until the bucket is full again, or, after a refusal, until the next request is allowed. */
  waitMs: number;
}

export interface RateLimiter {
  take: (subject: string, limits: Pick<SubjectLimits, 'requests_per_second' | 'burst'>) => Promise<RateDecision>;
}

/**
 * A token bucket per subject, shared by all replicas: `burst` tokens, refilled with `requests_per_second`. While Redis
 * is away each replica counts for itself, so the limit then holds per replica.
 */
export function createRateLimiter(redis: RedisGuard): RateLimiter {
  const pairs = new Map<string, LimiterPair>();
  return {
    take: async (subject, { requests_per_second: rate, burst }) => {
      if (burst < 1) return { isAllowed: false, remaining: 0, waitMs: CLOSED_MS };
      const pair = pairOf(pairs, rate, burst);
      const shared = await redis.attempt('take_token', async (client) => {
        pair.shared ??= sharedLimiter(client, rate, burst);
        return decide(pair.shared, subject, { customDuration: Math.max(1, Math.ceil(burst / rate)) });
      });
      return shared ?? decide(pair.local, subject, {});
    },
  };
}

interface LimiterPair {
  shared: RateLimiterRedis | undefined;
  local: RateLimiterMemory;
}

const CLOSED_MS = 60_000;
const PAIRS_AT_MOST = 1000;

function pairOf(pairs: Map<string, LimiterPair>, rate: number, burst: number): LimiterPair {
  const name = `${rate}/${burst}`;
  const known = pairs.get(name);
  if (known) return known;
  // Few different limits are in use. Dropping old ones only restarts local counters.
  if (pairs.size >= PAIRS_AT_MOST) pairs.clear();
  const local = new RateLimiterMemory({ keyPrefix: name, points: burst, duration: burst / rate });
  const pair = { shared: undefined, local };
  pairs.set(name, pair);
  return pair;
}

function sharedLimiter(client: Redis, rate: number, burst: number): RateLimiterRedis {
  return new RateLimiterRedis({
    storeClient: client,
    keyPrefix: 'rate',
    points: burst,
    duration: burst / rate,
    customIncrTtlLuaScript: TOKEN_BUCKET,
    rejectIfRedisNotReady: true,
  });
}

async function decide(
  limiter: RateLimiterRedis | RateLimiterMemory,
  subject: string,
  options: { customDuration?: number },
): Promise<RateDecision> {
  try {
    const { remainingPoints, msBeforeNext } = await limiter.consume(subject, 1, options);
    return { isAllowed: true, remaining: remainingPoints, waitMs: msBeforeNext };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { isAllowed: false, remaining: 0, waitMs: refusal.msBeforeNext };
  }
}

/**
 * Replaces the fixed window of the library by a token bucket on the clock of Redis. ARGV: cost, unused, tokens at most,
 * seconds in which an empty bucket fills. Returns tokens taken, milliseconds to wait.
 */
const TOKEN_BUCKET = `
local cost, most = tonumber(ARGV[1]), tonumber(ARGV[3])
local per_ms = most / (tonumber(ARGV[4]) * 1000)
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local state = redis.call('hmget', KEYS[1], 'tokens', 'at')
local tokens = most
if state[1] then
  tokens = math.min(most, tonumber(state[1]) + math.max(0, now - tonumber(state[2])) * per_ms)
end
if tokens < cost then
  return {most + 1, math.ceil((cost - tokens) / per_ms)}
end
tokens = tokens - cost
redis.call('hset', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now))
redis.call('pexpire', KEYS[1], math.ceil(most / per_ms) + 1000)
return {most - math.floor(tokens), math.ceil((most - tokens) / per_ms)}
`;
