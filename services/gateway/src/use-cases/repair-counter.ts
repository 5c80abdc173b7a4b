import { repairCounter as question } from '@vision/contracts/quota';
import type { CounterRepair, QuotaKind } from '@vision/contracts/quota';
import { OPERATOR } from '../domain/audit.ts';
import { audited } from './audited.ts';
import type { Deps } from './deps.ts';

export interface Repair {
  subject: string;
  kind: QuotaKind;
  day: string;
  reason: string;
  actor: string;
}

/** Corrects a quota counter from its reservations; actor and reason are in the audit log and in the ledger. */
export async function repairCounter(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  { subject, kind, day, reason, actor }: Repair,
): Promise<CounterRepair> {
  const act = { actor, action: 'quota.repair', target: subject, details: { kind, day, reason } };
  return audited(db, act, () =>
    owners.quota.ask(question, { subject: OPERATOR, body: { subject, kind, day, who: actor, reason } }),
  );
}
