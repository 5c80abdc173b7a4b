import type { VisionClient } from '@vision/client';
import { foundOf } from '../state/data.ts';
import type { Endpoint } from './event-sets.ts';

/** An endpoint as it is now; undefined when there is none of this name. */
export async function endpointNow(client: VisionClient, endpointId: string): Promise<Endpoint | undefined> {
  const params = { path: { endpoint_id: endpointId } };
  return foundOf(await client.api.GET('/v1/vision/webhook-endpoints/{endpoint_id}', { params }));
}
