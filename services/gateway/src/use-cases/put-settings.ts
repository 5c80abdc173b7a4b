import type { SnapshotMode } from '@vision/contracts/create-query';
import { inTransaction } from '@vision/shared/db/transaction';
import { appendAudit } from '../db/audit-log.ts';
import { writeSnapshotMode } from '../db/settings.ts';
import type { Deps } from './deps.ts';

export interface SettingsChange {
  subject: string;
  /** The API key of the request. */
  keyId: string;
  snapshots: SnapshotMode;
}

/** Stores the settings of a subject, with the key that changed them; does nothing when they are unchanged. */
export async function putSettings(
  { db, keyCache }: Pick<Deps, 'db' | 'keyCache'>,
  { subject, keyId, snapshots }: SettingsChange,
): Promise<void> {
  const hasChanged = await inTransaction(db, async (tx) => {
    if (!(await writeSnapshotMode(tx, subject, snapshots))) return false;
    await appendAudit(tx, { actor: `key ${keyId}`, action: 'settings.put', target: subject, details: { snapshots } });
    return true;
  });
  if (hasChanged) keyCache.forget({ subjects: [subject] });
}
