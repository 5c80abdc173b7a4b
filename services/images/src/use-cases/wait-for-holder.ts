import { setTimeout as delay } from 'node:timers/promises';
import { fail } from '@vision/contracts/errors';
import { backoff } from '@vision/shared/async/backoff';
import { findKey } from '../db/idempotency-keys.ts';
import type { KeyHolder, KeyId } from '../domain/image-call.ts';
import { takeOverDeadCall } from './recover-dead-calls.ts';
import type { RecoverDeps } from './recover-dead-calls.ts';

/** Pause between two polls of the key. */
const POLL_PAUSE = { minMs: 30, maxMs: 240 };

export interface Wait {
  id: KeyId;
  /** What the waiting call means; a holder that means something else refuses it at once. */
  fingerprint: string;
  /** By `performance.now()`. */
  deadline: number;
  signal: AbortSignal;
}

/**
 * Waits while another call works on the key, looking again and again without holding a connection. Gives the holder
 * once its call is done, undefined once the key is free. A call whose process died is undone at once.
 * @throws AppError OP-TASK-REQUEST-INVALID `idempotency_key_reused`; OP-SYS-UNAVAILABLE after the deadline.
 */
export async function waitForHolder(
  deps: RecoverDeps,
  first: KeyHolder | undefined,
  { id, fingerprint, deadline, signal }: Wait,
): Promise<KeyHolder | undefined> {
  let holder = first;
  for (let round = 1; holder; round += 1) {
    if (holder.isDead) {
      await takeOverDeadCall(deps, holder.taskId);
    } else if (holder.fingerprint !== fingerprint) {
      throw fail.keyReused();
    } else if (holder.state === 'done') {
      return holder;
    } else {
      if (performance.now() >= deadline) throw fail.sysUnavailable('first_call_still_running', undefined, 5);
      await delay(backoff(round, POLL_PAUSE), undefined, { signal });
    }
    holder = await findKey(deps.db, id);
  }
  return undefined;
}
