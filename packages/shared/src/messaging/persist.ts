import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { backoff } from '../async/backoff.ts';
import { retryUntil } from '../async/retry-until.ts';
import { asUnavailable } from '../unavailable.ts';
import { AppError } from '../errors.ts';

export interface PersistOptions {
  /** Tries of work that fails for no outage. */
  maxAttempts: number;
  /** Keeps the membership in the group while the work or a pause takes long. Throws when the group rebalances. */
  heartbeat: () => Promise<void>;
  signal: AbortSignal;
  /** Told before each pause. */
  onRetry: (error: unknown, retry: Retry) => void;
}

export interface Retry {
  /** Number of the next try. */
  attempt: number;
  /** How many failures in a row were an outage, this one included; 0 when it was none. */
  outages: number;
}

/**
 * Does the work until it succeeds. Outages are waited out for as long as they last, in place and with heartbeats; other
 * failures are repeated up to `maxAttempts`.
 * @returns undefined when done, the failure when the tries are used up.
 * @throws KafkaJSError when the process stops or the group rebalances meanwhile: the offset stays where it is.
 */
export async function persist(
  work: (attempt: number) => Promise<void>,
  options: PersistOptions,
): Promise<{ failure: unknown } | undefined> {
  let attempt = 1;
  let outages = 0;
  let usedUp: { failure: unknown } | undefined;
  const pauseAfter = (error: unknown) => {
    const isOutage = asUnavailable(error) !== undefined || (error instanceof AppError && error.isRetriable);
    if (!isOutage && attempt >= options.maxAttempts) {
      usedUp = { failure: error };
      return undefined;
    }
    outages = isOutage ? outages + 1 : 0;
    if (!isOutage) attempt += 1;
    options.onRetry(error, { attempt, outages });
    return backoff(isOutage ? outages : attempt, 10_000);
  };
  const pause = (ms: number) => pauseWithHeartbeats(ms, options);
  try {
    await retryUntil(() => withHeartbeats(options, () => work(attempt)), { signal: options.signal, pauseAfter, pause });
    return undefined;
  } catch (error) {
    if (usedUp) return usedUp;
    throw options.signal.aborted ? stopping() : error;
  }
}

/**
 * A stop in the middle of a delivery, in the one form that makes the library leave quietly without
 * resolving the offset.
 */
export function stopping(): Error {
  // Node sees only some names of this CommonJS library as exports; the errors are not among them.
  return new kafkajs.KafkaJSError('the consumer is stopping', { retriable: true });
}

const HEARTBEAT_MS = 3_000;
// A handler that hangs for ever must lose its partitions; otherwise the group looks healthy while nothing is handled.
const HANDLER_LIMIT_MS = 120_000;

async function withHeartbeats({ heartbeat }: PersistOptions, work: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    // A rebalance seen here shows again at the next regular heartbeat, after the work is done.
    if (performance.now() - startedAt < HANDLER_LIMIT_MS) heartbeat().catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

async function pauseWithHeartbeats(ms: number, { heartbeat, signal }: PersistOptions): Promise<void> {
  let left = ms;
  while (left > 0) {
    await delay(Math.min(left, HEARTBEAT_MS), undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
    await heartbeat();
    left -= HEARTBEAT_MS;
  }
}
