import { removeDeliveriesOfDeleted } from '../../db/webhook-deliveries.ts';
import { removeDeletedEndpoints as removeRows } from '../../db/webhook-endpoints.ts';
import type { Deps } from '../deps.ts';

/** Removes deleted endpoints and their deliveries, in short transactions. */
export async function removeDeletedEndpoints({ db, settings }: Pick<Deps, 'db' | 'settings'>): Promise<void> {
  while ((await removeDeliveriesOfDeleted(db, settings.retentionBatch)) === settings.retentionBatch);
  await removeRows(db);
}
