import { listDeliveries } from '../../db/webhook-deliveries.ts';
import type { DeliveryRow } from '../../db/webhook-deliveries.ts';
import { findEndpoint } from '../../db/webhook-endpoints.ts';
import { deliveryStates } from '../../domain/delivery.ts';
import type { DeliveryQuery } from '../../domain/delivery-query.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { foundEndpoint } from './show-endpoint.ts';

/** A page of the deliveries of an endpoint, newest first. */
export async function listWebhookDeliveries(
  deps: Pick<Deps, 'db' | 'webhooks' | 'deliveryCursors'>,
  subject: string,
  { endpointId, query }: { endpointId: string; query: DeliveryQuery },
): Promise<{ items: DeliveryRow[]; nextCursor: string }> {
  neededTools(deps);
  const { endpoint_key: endpointKey } = foundEndpoint(await findEndpoint(deps.db, subject, endpointId));
  const { cursor, limit, state } = query;
  const before = cursor === undefined ? undefined : deps.deliveryCursors.decode(endpointKey, cursor);
  const states = state === undefined ? deliveryStates : [state];
  const found = await listDeliveries(deps.db, { endpointKey, states, before, limit: limit + 1 });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { items, nextCursor: hasMore ? deps.deliveryCursors.encode(endpointKey, last.delivery_id) : '' };
}
