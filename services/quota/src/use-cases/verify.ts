import type { VerificationReply } from '@vision/contracts/quota';
import { compareCounters } from '../db/verification.ts';
import type { Deps } from './deps.ts';

const REPORTED_AT_MOST = 1_000;

/**
 * Says where counters and ledger differ; repairs nothing, because a difference is a fault that somebody must look at.
 */
export async function verify({ db, signals }: Pick<Deps, 'db' | 'signals'>): Promise<VerificationReply> {
  const verification = await compareCounters(db, REPORTED_AT_MOST);
  signals.verified(verification.differences);
  return verification;
}
