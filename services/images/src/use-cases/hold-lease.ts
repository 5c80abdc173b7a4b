import { fail } from '@vision/shared/errors';
import { renewClaim } from '../db/idempotency-keys.ts';
import type { Claim } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';

export interface HeldLease {
  /** Aborted when another process has taken the call over. */
  lost: AbortSignal;
  release: () => void;
}

/**
 * Renews the lease of a claim while the work goes on. A database that is away for a moment does not end the work:
 * writing the outcome checks the claim once more.
 */
export function holdLease(deps: Pick<Deps, 'db' | 'settings' | 'signals'>, claim: Claim): HeldLease {
  const { db, settings, signals } = deps;
  const controller = new AbortController();
  const timer = setInterval(() => {
    renewClaim(db, claim, settings.leaseMs).then(
      (held) => {
        if (!held) controller.abort(fail.sysUnavailable('call_taken_over'));
      },
      (error: unknown) => signals.leaseNotRenewed(claim.taskId, error),
    );
  }, settings.leaseMs / 3);
  return { lost: controller.signal, release: () => clearInterval(timer) };
}
