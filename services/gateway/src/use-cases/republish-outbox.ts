import { republishOutbox as question } from '@vision/contracts/outbox';
import type { Republished, RepublishRequest } from '@vision/contracts/outbox';
import { OPERATOR } from '../domain/audit.ts';
import { audited } from './audited.ts';
import type { Deps } from './deps.ts';

export interface Republication extends RepublishRequest {
  service: 'tasks' | 'images' | 'results' | 'notify';
  actor: string;
}

/** Makes a service republish its events of a period. Counting changes nothing, so it is in no audit log. */
export async function republishOutbox(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  { service, actor, ...body }: Republication,
): Promise<Republished> {
  const ask = () => owners[service].ask(question, { subject: OPERATOR, body });
  if (body.dry_run) return ask();
  const { from, to, after, limit } = body;
  return audited(db, { actor, action: 'outbox.republish', target: service, details: { from, to, after, limit } }, ask);
}
