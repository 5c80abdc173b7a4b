import { deleteMqttEndpoint as deleteRow } from '../../db/mqtt-endpoints.ts';
import type { Deps } from '../deps.ts';

/** Deletes an endpoint; its connection is closed within seconds. A missing one counts as deleted. */
export async function deleteMqttEndpoint(
  { db, wakeMqtt }: Pick<Deps, 'db' | 'wakeMqtt'>,
  subject: string,
  endpointId: string,
): Promise<void> {
  await deleteRow(db, subject, endpointId);
  wakeMqtt();
}
