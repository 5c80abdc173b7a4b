import { deleteEndpoint } from '../db/webhook-endpoints.ts';
import type { Deps } from './deps.ts';

/** Removes an endpoint with its deliveries. One that is not there is removed already. */
export async function deleteWebhookEndpoint(
  { db }: Pick<Deps, 'db'>,
  subject: string,
  endpointId: string,
): Promise<void> {
  await deleteEndpoint(db, subject, endpointId);
}
