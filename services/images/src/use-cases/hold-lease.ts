import { fail } from '@vision/contracts/errors';
import { renewClaim } from '../db/idempotency-keys.ts';
import type { Claim } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';

export interface HeldLease {
  release: () => void;
}

/**
 * Renews the lease of a claim during the work, and aborts the work when another process has taken the call over. A
 * short outage of the database does not abort it: writing the outcome checks the claim once more.
 */
export function holdLease(
  { db, settings, signals }: Pick<Deps, 'db' | 'settings' | 'signals'>,
  claim: Claim,
  work: AbortController,
): HeldLease {
  const timer = setInterval(() => {
    renewClaim(db, claim, settings.leaseMs).then(
      (held) => {
        if (!held) work.abort(fail.sysUnavailable('call_taken_over'));
      },
      (error: unknown) => signals.leaseNotRenewed(claim.taskId, error),
    );
  }, settings.leaseMs / 3);
  return { release: () => clearInterval(timer) };
}
