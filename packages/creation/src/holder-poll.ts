import { setTimeout as delay } from 'node:timers/promises';
import { fail } from '@vision/contracts/errors';
import { backoff } from '@vision/shared/async/backoff';

/** Pause between two polls of an idempotency key that another request holds, milliseconds. */
const PAUSE = { minMs: 30, maxMs: 240 };

export interface HolderPoll {
  /** By `performance.now()`. */
  deadline: number;
  /** Reason of the refusal after it. */
  reason: 'first_request_still_running' | 'first_call_still_running';
  /** Ends the wait; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/**
 * Waits before the key is read again, without a database connection.
 * @param round of the wait, from 1: pauses grow.
 * @throws AppError OP-SYS-UNAVAILABLE after the deadline: the first request is still at work.
 */
export async function pauseForHolder(round: number, { deadline, reason, signal }: HolderPoll): Promise<void> {
  if (performance.now() >= deadline) throw fail.sysUnavailable(reason);
  await delay(backoff(round, PAUSE), undefined, { signal });
}
