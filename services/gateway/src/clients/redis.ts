import { Redis } from 'ioredis';
import type { Signals } from '../signals.ts';

export interface RedisGuard {
  /** Runs a command; undefined when Redis is away, failed within the deadline or failed a moment ago. */
  attempt: <T>(command: (client: Redis) => Promise<T>) => Promise<T | undefined>;
  start: () => void;
  stop: () => void;
}

export interface RedisOptions {
  url: string;
  /** Deadline of one command. */
  timeoutMs: number;
  /** Time without Redis after a failure, so that not every request waits for the deadline. */
  cooldownMs: number;
  signals: Signals;
}

/**
 * Redis as something that may be away: commands never queue while it is disconnected and never outlive the deadline,
 * and every decision that had to be made without it is counted.
 */
export function createRedisGuard({ url, timeoutMs, cooldownMs, signals }: RedisOptions): RedisGuard {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: timeoutMs,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(1000, 50 * attempt),
  });
  // Without a listener ioredis writes every failed reconnect to stderr; the guard reports what matters.
  client.on('error', () => undefined);
  let awayUntil = 0;
  let isAway = false;
  const failed = (error: unknown) => {
    awayUntil = performance.now() + cooldownMs;
    signals.redisAway(error, !isAway);
    isAway = true;
  };
  return {
    attempt: async (command) => {
      if (performance.now() < awayUntil) {
        signals.redisAway(undefined, false);
        return undefined;
      }
      try {
        const result = await command(client);
        if (isAway) signals.redisBack();
        isAway = false;
        return result;
      } catch (error) {
        failed(error);
        return undefined;
      }
    },
    start: () => {
      // A failed first connection is retried by the client itself.
      client.connect().catch(() => undefined);
    },
    stop: () => client.disconnect(),
  };
}
