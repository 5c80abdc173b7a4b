import { findMqttEndpoint } from '../../db/mqtt-endpoints.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { foundMqttEndpoint, shownMqttEndpoint } from './show-mqtt-endpoint.ts';
import type { ShownMqttEndpoint } from './show-mqtt-endpoint.ts';

export async function getMqttEndpoint(
  deps: Pick<Deps, 'db' | 'webhooks'>,
  subject: string,
  endpointId: string,
): Promise<ShownMqttEndpoint> {
  const { box } = neededTools(deps);
  return shownMqttEndpoint(box, foundMqttEndpoint(await findMqttEndpoint(deps.db, subject, endpointId)));
}
