import { listMqttEndpoints as listRows } from '../../db/mqtt-endpoints.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { shownMqttEndpoint } from './show-mqtt-endpoint.ts';
import type { ShownMqttEndpoint } from './show-mqtt-endpoint.ts';

export async function listMqttEndpoints(
  deps: Pick<Deps, 'db' | 'webhooks'>,
  subject: string,
): Promise<ShownMqttEndpoint[]> {
  const { box } = neededTools(deps);
  return (await listRows(deps.db, subject)).map((row) => shownMqttEndpoint(box, row));
}
