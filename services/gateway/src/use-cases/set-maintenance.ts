import { inTransaction } from '@vision/shared/db/transaction';
import { appendAudit } from '../db/audit-log.ts';
import { writeMaintenance } from '../db/settings.ts';
import type { Maintenance } from '../domain/maintenance.ts';
import type { Deps } from './deps.ts';

/** Switches maintenance; this replica follows at once, the others with their next poll. */
export async function setMaintenance(
  { db, watch, signals }: Pick<Deps, 'db' | 'watch' | 'signals'>,
  { enabled, reason, actor }: Maintenance & { actor: string },
): Promise<Maintenance> {
  const next = { enabled, reason: enabled ? reason : '' };
  await inTransaction(db, async (tx) => {
    await writeMaintenance(tx, next);
    await appendAudit(tx, { actor, action: 'maintenance.set', target: 'maintenance', details: { enabled, reason } });
  });
  watch.setMaintenance(next);
  signals.maintenanceSet(next, actor);
  return next;
}
