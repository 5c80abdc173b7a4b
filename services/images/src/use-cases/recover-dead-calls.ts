import { fail } from '@vision/contracts/errors';
import { claimDead } from '../db/idempotency-keys.ts';
import type { Claim } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';
import { rollBackImageCall, tryRollback } from './roll-back-image-call.ts';
import type { Rollback, RollbackDeps } from './roll-back-image-call.ts';

export type RecoverDeps = RollbackDeps & Pick<Deps, 'settings'>;

/** Concurrent rollbacks: a call that waits for the object store delays no other. */
const AT_ONCE = 20;

/**
 * Rolls back calls whose process died: their callers have lost the connection, and a retry with the same key starts a
 * new call. Returns the number of calls.
 */
export async function recoverDeadCalls(deps: RecoverDeps & Pick<Deps, 'loops'>): Promise<number> {
  const dead = await claimDead(deps.db, { leaseMs: deps.settings.leaseMs, limit: AT_ONCE });
  const loop = deps.loops.of('recovery');
  const rollBack = async (claim: Claim) => {
    deps.signals.callTakenOver(claim.taskId);
    await tryRollback(deps, claim, workerDied());
  };
  await Promise.all(dead.map((claim) => loop.attempt(claim.taskId, () => rollBack(claim))));
  return dead.length;
}

/** Recovers one call at once because a request waits for it; does nothing when another process is rolling it back. */
export async function takeOverDeadCall(deps: RecoverDeps, taskId: string): Promise<void> {
  const [claim] = await claimDead(deps.db, { leaseMs: deps.settings.leaseMs, limit: 1, taskId });
  if (!claim) return;
  deps.signals.callTakenOver(claim.taskId);
  await rollBackImageCall(deps, claim, workerDied());
}

const workerDied = (): Rollback => ({ hadEffects: true, isRecovery: true, reason: fail.sysUnavailable('worker_died') });
