import { compareCounters } from '../db/verification.ts';
import type { Verification } from '../db/verification.ts';
import type { LedgerDeps } from './reserve.ts';

const REPORTED_AT_MOST = 1_000;

/**
 * Says where counters and ledger differ; repairs nothing, because a difference is a fault that somebody must look at.
 */
export async function verify({ db, signals }: LedgerDeps): Promise<Verification> {
  const verification = await compareCounters(db, REPORTED_AT_MOST);
  signals.verified(verification.differences);
  return verification;
}
