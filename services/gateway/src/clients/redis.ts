import { Redis } from 'ioredis';
import type { RedisOptions as ClientOptions } from 'ioredis';
import { backoff } from '@vision/shared/async/backoff';
import { callUpstream } from '@vision/shared/upstream/call-upstream';
import { outcomeOf } from '@vision/shared/upstream/classify';
import { away, rootMessage, tlsFault, wrong } from '@vision/shared/start/fault';
import type { Fault } from '@vision/shared/start/fault';
import type { StartCheck } from '@vision/shared/start/start-checks';
import type { RedisConnection } from '../redis-config.ts';
import type { Signals } from '../signals.ts';

export interface RedisGuard {
  /** Runs a command; undefined when Redis is unavailable, failed within the deadline or failed a moment ago. */
  attempt: <T>(operation: string, command: (client: Redis) => Promise<T>) => Promise<T | undefined>;
  /** Rejects when Redis does not answer now, regardless of earlier failures. */
  ping: () => Promise<unknown>;
  start: () => void;
  stop: () => void;
  /** Check at the start that Redis accepts the credentials. An unavailable Redis is no failure. */
  check: StartCheck;
}

export interface RedisOptions {
  connection: RedisConnection;
  /** Deadline of one command. */
  timeoutMs: number;
  /** Time without Redis after a failure, so that not every request waits for the deadline. */
  cooldownMs: number;
  signals: Signals;
}

/**
 * A Redis client that tolerates outages: commands never queue while it is disconnected and never exceed the deadline,
 * and every decision without Redis is counted.
 */
export function createRedisGuard({ connection, timeoutMs, cooldownMs, signals }: RedisOptions): RedisGuard {
  const client = new Redis(connection.url, {
    ...sentinelOptions(connection),
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: timeoutMs,
    connectTimeout: 2000,
    retryStrategy,
    sentinelRetryStrategy: retryStrategy,
    // After a failover the old primary accepts reads only, on a connection that stays open.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  });
  // Set afterwards: the library prefers values from the address to options.
  if (connection.tls) client.options.tls = connection.tls;
  // Without a listener ioredis writes every failed reconnect to stderr; the guard reports failures.
  client.on('error', () => undefined);
  let awayUntil = 0;
  let isAway = false;
  const failed = (error: unknown) => {
    awayUntil = performance.now() + cooldownMs;
    signals.redisAway(error, !isAway);
    isAway = true;
  };
  let ended: typeof client.stream | undefined;
  /** Commands that time out together end their connection once, and not the next one. */
  const endOnce = (stream: typeof client.stream) => {
    if (client.stream !== stream || stream === ended) return;
    ended = stream;
    client.disconnect(true);
  };
  return {
    attempt: async (operation, command) => {
      if (performance.now() < awayUntil) {
        signals.redisAway(undefined, false);
        return undefined;
      }
      const { stream } = client;
      try {
        const call = { upstream: 'redis', operation, limitMs: timeoutMs, isPartOfTrace: true } as const;
        const result = await callUpstream(call, () => command(client));
        if (isAway) signals.redisBack();
        isAway = false;
        return result;
      } catch (error) {
        // A peer can vanish without a reset; TCP alone would keep the connection for a quarter of an hour.
        if (outcomeOf(error) === 'total_timeout') endOnce(stream);
        failed(error);
        return undefined;
      }
    },
    ping: () => client.ping(),
    start: () => {
      // A failed first connection is retried by the client itself.
      client.connect().catch(() => undefined);
    },
    stop: () => client.disconnect(),
    check: { name: 'redis', readyWhileAway: true, ask: () => askRedis(connection) },
  };
}

const retryStrategy = (attempt: number) => backoff(attempt, { minMs: 50, maxMs: 1000 });

/** Sentinels name the primary before each connection; user, password and database come from the address. */
function sentinelOptions({ sentinels, tls }: RedisConnection): ClientOptions {
  if (sentinels === undefined) return {};
  const { addresses, name, password } = sentinels;
  return {
    sentinels: addresses,
    name,
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...(tls ? { enableTLSForSentinelMode: true, sentinelTLS: tls } : {}),
  };
}

/** Uses its own connection: the other one reports only that Redis is missing, and never why. */
async function askRedis(connection: RedisConnection): Promise<Fault | undefined> {
  const { url, tls, sentinels } = connection;
  const { username } = new URL(url);
  const host = sentinels ? `"${sentinels.name}" of REDIS_SENTINELS` : new URL(url).host;
  const client = new Redis(url, {
    ...sentinelOptions(connection),
    sentinelRetryStrategy: () => null,
    lazyConnect: true,
    connectTimeout: 2000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  if (tls) client.options.tls = tls;
  let seen: unknown;
  client.on('error', (error: unknown) => (seen = error));
  try {
    await client.connect();
    await client.ping();
    return undefined;
  } catch (error) {
    const cause = seen ?? error;
    const message = rootMessage(cause);
    if (/WRONGPASS|NOAUTH|invalid password/i.test(message))
      return wrong(`Redis refuses the user "${username}" of REDIS_URL (${host}): look at it or at REDIS_PASSWORD`);
    if (message.includes('NOPERM')) return wrong(`The user "${username}" of REDIS_URL (${host}) may not: ${message}`);
    return tlsFault(cause, names) ?? away(`Redis does not answer at REDIS_URL (${host}): ${message}`);
  } finally {
    client.disconnect();
  }
}

const names = { store: 'Redis', address: 'REDIS_URL', tls: 'REDIS_URL', ca: 'REDIS_CA_FILE' };
