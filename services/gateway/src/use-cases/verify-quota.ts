import { verifyLedger } from '@vision/contracts/quota';
import type { VerificationReply } from '@vision/contracts/quota';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

/** Differences between the counters of the quota service and its ledger. */
export async function verifyQuota({ owners }: Pick<Deps, 'owners'>, signal: AbortSignal): Promise<VerificationReply> {
  return owners.quota.ask(verifyLedger, { subject: OPERATOR, signal });
}
