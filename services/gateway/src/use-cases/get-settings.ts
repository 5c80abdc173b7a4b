import type { SnapshotMode } from '@vision/contracts/create-query';
import { readSnapshotMode } from '../db/settings.ts';
import type { Deps } from './deps.ts';

/** The settings of a subject, with defaults. */
export async function readSettings(
  { db, settings }: Pick<Deps, 'db' | 'settings'>,
  subject: string,
): Promise<{ snapshots: SnapshotMode }> {
  return { snapshots: (await readSnapshotMode(db, subject)) ?? settings.snapshotsDefault };
}
