import { decideBucket as question } from '@vision/contracts/retention';
import { OPERATOR } from '../domain/audit.ts';
import { audited } from './audited.ts';
import type { Deps } from './deps.ts';

interface BucketDecision {
  service: 'tasks' | 'images' | 'results';
  decision: 'resume' | 'adopt';
  reason: string;
}

/** Forwards an operator's decision about the database of a service and the bucket. */
export async function decideBucket(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  { service, decision, reason }: BucketDecision,
  actor: string,
): Promise<Pick<BucketDecision, 'service' | 'decision'>> {
  const act = { actor, action: `bucket.${decision}`, target: service, details: { reason } };
  return audited(db, act, async () => {
    await owners[service].ask(question, { subject: OPERATOR, body: { decision } });
    return { service, decision };
  });
}
