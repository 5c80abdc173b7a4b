import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { backoff } from '@vision/shared/async/backoff';
import { retryUntil } from '@vision/shared/async/retry-until';
import { asUnavailable, isStoreFault } from '@vision/shared/unavailable';
import { AppError } from '@vision/contracts/errors';

export interface PersistOptions {
  /** Attempts for work that fails for other reasons than an outage or a fault of a store. */
  maxAttempts: number;
  /** Work that times out in a store is not retried: the caller splits it into smaller parts. */
  canSplit?: boolean;
  /** Keeps the membership in the group while the work or a pause takes long. Throws when the group rebalances. */
  heartbeat: () => Promise<void>;
  signal: AbortSignal;
  /** Called before each pause. */
  onRetry: (error: unknown, retry: Retry) => void;
}

export interface Retry {
  /** Number of the next attempt. */
  attempt: number;
  /** Number of consecutive outages, this one included; 0 when it was none. */
  outages: number;
  /** The same for faults of a store: a statement that takes too long, a missing grant. */
  storeFaults: number;
}

/**
 * Retries the work until it succeeds. During an outage it waits in place, with heartbeats, without limit; also during
 * a fault of a store, which an operator has to fix: neither makes an event a dead letter. Other failures are retried up
 * to `maxAttempts`.
 * @returns undefined when done, the failure when the attempts are used up or the work has to be split.
 * @throws KafkaJSError when the process stops or the group rebalances meanwhile: the offset stays where it is.
 */
export async function persist(
  work: (attempt: number) => Promise<void>,
  options: PersistOptions,
): Promise<{ failure: unknown } | undefined> {
  const retry: Retry = { attempt: 1, outages: 0, storeFaults: 0 };
  let usedUp: { failure: unknown } | undefined;
  const pauseAfter = (error: unknown) => {
    const cause = causeOf(error);
    if (cause === 'store' ? options.canSplit : cause === 'work' && retry.attempt >= options.maxAttempts) {
      usedUp = { failure: error };
      return undefined;
    }
    retry.outages = cause === 'outage' ? retry.outages + 1 : 0;
    retry.storeFaults = cause === 'store' ? retry.storeFaults + 1 : 0;
    if (cause === 'work') retry.attempt += 1;
    options.onRetry(error, { ...retry });
    return backoff(retry.outages || retry.storeFaults || retry.attempt, { maxMs: 10_000 });
  };
  const pause = (ms: number) => pauseWithHeartbeats(ms, options);
  try {
    await retryUntil(() => withHeartbeats(options, () => work(retry.attempt)), {
      signal: options.signal,
      pauseAfter,
      pause,
    });
    return undefined;
  } catch (error) {
    if (usedUp) return usedUp;
    throw options.signal.aborted ? stopping() : error;
  }
}

function causeOf(error: unknown): 'outage' | 'store' | 'work' {
  if (isStoreFault(error)) return 'store';
  return asUnavailable(error) || (error instanceof AppError && error.isRetriable) ? 'outage' : 'work';
}

/** For an event that is neither handled nor a dead letter. */
export const HELD_UP = 'an event holds up its partition';

/** Whether a log line about a fault of a store is due: at the first one, and about every ten minutes. */
export const isLineDue = ({ storeFaults }: Retry): boolean => storeFaults % FAULTS_A_LINE === 1;

// A statement takes five seconds until it fails, the pause after it about as long.
const FAULTS_A_LINE = 60;

/**
 * A stop in the middle of a delivery, in the one form that makes the library leave quietly without
 * resolving the offset.
 */
export function stopping(): Error {
  // Node sees only some names of this CommonJS library as exports; the errors are not among them.
  return new kafkajs.KafkaJSError('the consumer is stopping', { retriable: true });
}

const HEARTBEAT_MS = 3_000;
// A handler that hangs must lose its partitions; otherwise the group looks healthy while no event is handled.
const HANDLER_LIMIT_MS = 120_000;

/** Keeps the group membership during one piece of work, but not while it hangs. */
export async function withHeartbeats<T>(
  { heartbeat }: Pick<PersistOptions, 'heartbeat'>,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    // A rebalance seen here shows again at the next regular heartbeat, after the work is done.
    if (performance.now() - startedAt < HANDLER_LIMIT_MS) heartbeat().catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await work();
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
