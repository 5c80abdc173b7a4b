import { randomUUID } from 'node:crypto';
import type { SlotKind } from '@vision/contracts/public-operations';
import { createPoller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import type { RedisGuard } from './redis.ts';

interface Slot {
  /** Further requests that may start now. */
  remaining: number;
  /** Releases the slot; cheap, never fails. */
  release: () => void;
}

export interface Slots {
  /** Undefined when all slots of the subject are taken. */
  take: (subject: string, kind: SlotKind, limit: number) => Promise<Slot | undefined>;
  start: () => void;
  stop: () => Promise<void>;
}

export interface SlotOptions {
  redis: RedisGuard;
  leaseMs: number;
  logger: Logger;
}

/**
 * Slots are leases in a sorted set per subject and kind, with their expiry as score. They are renewed while the request
 * runs; those of a dead gateway expire. While Redis is unavailable only the slots of this process count.
 */
export function createSlots({ redis, leaseMs, logger }: SlotOptions): Slots {
  const held = new Map<string, Set<string>>();
  const renewal = createPoller({
    name: 'slot-renewal',
    intervalMs: leaseMs / 3,
    logger,
    run: async () => {
      await renewAll(redis, held, leaseMs);
      return 0;
    },
  });
  return {
    take: async (subject, kind, limit) => {
      const key = `slots:${kind}:${subject}`;
      const lease = randomUUID();
      const taken = await redis.attempt(
        'take_slot',
        (client) => client.eval(TAKE, 1, key, lease, limit, leaseMs) as Promise<[number, number]>,
      );
      const own = held.get(key) ?? new Set<string>();
      const [isTaken, remaining] = taken ?? [own.size < limit ? 1 : 0, limit - own.size - 1];
      if (isTaken !== 1) return undefined;
      held.set(key, own.add(lease));
      return { remaining, release: () => release(redis, held, { key, lease }) };
    },
    start: renewal.start,
    stop: renewal.stop,
  };
}

function release(
  redis: RedisGuard,
  held: Map<string, Set<string>>,
  { key, lease }: { key: string; lease: string },
): void {
  const own = held.get(key);
  if (!own?.delete(lease)) return;
  if (own.size === 0) held.delete(key);
  void redis.attempt('release_slot', (client) => client.zrem(key, lease));
}

async function renewAll(redis: RedisGuard, held: Map<string, Set<string>>, leaseMs: number): Promise<void> {
  if (held.size === 0) return;
  await redis.attempt('renew_slots', async (client) => {
    const pipeline = client.pipeline();
    // A slot that was taken while Redis was unavailable, or that Redis lost with its data, is written here and counts
    // for all replicas from then on.
    for (const [key, leases] of held) pipeline.eval(RENEW, 1, key, leaseMs, ...leases);
    await pipeline.exec();
  });
}

const NOW = `local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** ARGV: lease, limit, milliseconds. Returns whether it was taken and how many slots are left. */
const TAKE = `${NOW}
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
local left = tonumber(ARGV[2]) - redis.call('zcard', KEYS[1])
if left <= 0 then return {0, 0} end
redis.call('zadd', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[3])
return {1, left - 1}
`;

/** ARGV: milliseconds, leases. */
const RENEW = `${NOW}
for index = 2, #ARGV do redis.call('zadd', KEYS[1], now + ARGV[1], ARGV[index]) end
redis.call('pexpire', KEYS[1], ARGV[1])
`;
