import { selectAudit } from '../db/audit-log.ts';
import type { AuditEntry } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

/** Acts of operators, newest first; `before` continues after the last id of the previous page. */
export async function listAudit(
  { db }: Pick<Deps, 'db'>,
  page: { limit: number; before?: number | undefined },
): Promise<AuditEntry[]> {
  return selectAudit(db, page);
}
