import { fail } from '@vision/contracts/errors';
import { inTransaction } from '@vision/shared/db/transaction';
import { repeatDelivery } from '../../db/webhook-deliveries.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { endpointDisabled } from './show-endpoint.ts';

/** Sends a delivery once more, also a delivered or failed one, under the id of its event. */
export async function redeliverWebhook(
  deps: Pick<Deps, 'db' | 'webhooks' | 'wakeWebhooks'>,
  subject: string,
  deliveryId: string,
): Promise<void> {
  neededTools(deps);
  const endpoint = await inTransaction(deps.db, (tx) => repeatDelivery(tx, subject, deliveryId));
  if (!endpoint) throw deliveryNotFound();
  if (!endpoint.is_enabled) throw endpointDisabled();
  deps.wakeWebhooks();
}

export const deliveryNotFound = () =>
  fail.notFound('You have no such delivery, or its event is no longer retained.', 'delivery_not_found');
