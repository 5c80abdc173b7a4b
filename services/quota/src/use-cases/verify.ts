import type { VerificationReply } from '@vision/contracts/quota';
import { compareCounters } from '../db/verification.ts';
import type { Deps } from './deps.ts';

const REPORTED_AT_MOST = 1_000;

/** Returns the differences between counters and ledger; repairs nothing, because an operator must investigate each. */
export async function verify({ db, signals }: Pick<Deps, 'db' | 'signals'>): Promise<VerificationReply> {
  const verification = await compareCounters(db, REPORTED_AT_MOST);
  signals.verified(verification.differences);
  return verification;
}
