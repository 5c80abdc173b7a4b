import { fail } from '@vision/contracts/errors';
import { pauseForHolder } from '@vision/creation/holder-poll';
import { findKey } from '../db/idempotency-keys.ts';
import type { KeyHolder, KeyId } from '../domain/image-call.ts';
import { takeOverDeadCall } from './recover-dead-calls.ts';
import type { RecoverDeps } from './recover-dead-calls.ts';

export interface Wait {
  id: KeyId;
  /** Fingerprint of the waiting call; a holder with another fingerprint refuses it at once. */
  fingerprint: string;
  /** By `performance.now()`. */
  deadline: number;
  signal: AbortSignal;
}

/**
 * Waits while another call works on the key; polls without holding a connection. Returns the holder once its call is
 * done, undefined once the key is free. A call whose process died is rolled back at once.
 * @throws AppError OP-TASK-REQUEST-INVALID `idempotency_key_reused`; OP-SYS-UNAVAILABLE after the deadline.
 */
export async function waitForHolder(
  deps: RecoverDeps,
  first: KeyHolder | undefined,
  { id, fingerprint, deadline, signal }: Wait,
): Promise<KeyHolder | undefined> {
  const poll = { deadline, signal, reason: 'first_call_still_running' } as const;
  let holder = first;
  for (let round = 1; holder; round += 1) {
    if (holder.isDead) {
      await takeOverDeadCall(deps, holder.taskId);
    } else if (holder.fingerprint !== fingerprint) {
      throw fail.keyReused();
    } else if (holder.state === 'done') {
      return holder;
    } else {
      await pauseForHolder(round, poll);
    }
    holder = await findKey(deps.db, id);
  }
  return undefined;
}
