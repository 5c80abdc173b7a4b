import type { VisionClient } from '@vision/client';
import { dataOf } from '../state/data.ts';
import { endpointNow } from './endpoint-now.ts';

/**
 * Switches an endpoint on or off. The rest of it stays as it is now, not as a page once read it. Returns false for an
 * endpoint that was deleted: it does not come back.
 */
export async function switchEndpoint(client: VisionClient, endpointId: string, enabled: boolean): Promise<boolean> {
  const endpoint = await endpointNow(client, endpointId);
  if (!endpoint) return false;
  const { url, event_types: types } = endpoint;
  const params = { path: { endpoint_id: endpointId } };
  const body = { url, enabled, ...(types ? { event_types: types } : {}) };
  dataOf(await client.api.PUT('/v1/vision/webhook-endpoints/{endpoint_id}', { params, body }));
  return true;
}
