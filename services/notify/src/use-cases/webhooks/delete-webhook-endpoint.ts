import { inTransaction } from '@vision/shared/db/transaction';
import { lockEndpoint, markEndpointDeleted } from '../../db/webhook-endpoints.ts';
import type { Deps } from '../deps.ts';

/** Deletes an endpoint: nothing more is sent, and its deliveries are removed. A missing one counts as deleted. */
export async function deleteWebhookEndpoint(
  { db }: Pick<Deps, 'db'>,
  subject: string,
  endpointId: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const row = await lockEndpoint(tx, subject, endpointId);
    if (row) await markEndpointDeleted(tx, row.endpoint_key);
  });
}
