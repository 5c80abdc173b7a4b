import { listAudit as readPage } from '../db/audit-log.ts';
import type { AuditEntry } from '../db/audit-log.ts';
import type { OperatorDeps } from './operator-deps.ts';

/** One page of what operators did, newest first. */
export function listAudit(
  { db }: Pick<OperatorDeps, 'db'>,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<AuditEntry[]> {
  return readPage(db, limit, before);
}
