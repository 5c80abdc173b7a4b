import { fail } from '@vision/shared/errors';
import { claimDead } from '../db/idempotency-keys.ts';
import { undoImageCall } from './undo-image-call.ts';
import type { UndoDeps } from './undo-image-call.ts';

export interface RecoverDeps extends UndoDeps {
  leaseMs: number;
}

const BATCH = 20;

/**
 * Undoes calls whose process died: nobody waits for their answer any more, and a retry with the same key starts afresh.
 * Returns how many there were.
 */
export async function recoverDeadCalls(deps: RecoverDeps): Promise<number> {
  const dead = await claimDead(deps.db, { leaseMs: deps.leaseMs, limit: BATCH });
  for (const claim of dead) {
    deps.signals.callTakenOver(claim.task_id);
    await undoImageCall(deps, claim, { hadEffects: true, reason: workerDied() });
  }
  return dead.length;
}

/** The same at once for the call that somebody waits for; does nothing when another process is at it. */
export async function takeOverDeadCall(deps: RecoverDeps, taskId: string): Promise<void> {
  const [claim] = await claimDead(deps.db, { leaseMs: deps.leaseMs, limit: 1, taskId });
  if (!claim) return;
  deps.signals.callTakenOver(claim.task_id);
  await undoImageCall(deps, claim, { hadEffects: true, reason: workerDied() });
}

const workerDied = () => fail.sysUnavailable('worker_died');
