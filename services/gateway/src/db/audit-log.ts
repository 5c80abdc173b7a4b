import type { Knex } from 'knex';
import type { Act, AuditEntry } from '../domain/audit.ts';

/** Records an act; for changes of this service, in the transaction of the change. */
export async function appendAudit(db: Knex, act: Act, result = 'done'): Promise<number> {
  const row = { ...act, details: JSON.stringify(act.details), result };
  const [inserted] = (await db('audit_log').insert(row, ['id'])) as [{ id: number }];
  return inserted.id;
}

export async function finishAudit(db: Knex, id: number, result: string): Promise<void> {
  await db('audit_log').where({ id }).update({ result });
}

/** Newest first; `before` continues after the last id of the previous page. */
export async function selectAudit(
  db: Knex,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<AuditEntry[]> {
  const query = db('audit_log').select().orderBy('id', 'desc').limit(limit);
  return (await (before === undefined ? query : query.where('id', '<', before))) as AuditEntry[];
}

/** Acts on one target, oldest first. */
export async function selectAuditOf(db: Knex, target: string): Promise<AuditEntry[]> {
  return (await db('audit_log').where({ target }).orderBy('id').limit(1000).select()) as AuditEntry[];
}
