import { readMqttState } from '../../db/mqtt-leases.ts';
import { readWebhookState } from '../../db/webhook-deliveries.ts';
import { countFailingSubjects } from '../../db/webhook-endpoints.ts';
import type { Deps } from '../deps.ts';

/** Records how many webhooks and MQTT endpoints wait, and for how long. */
export async function tellWebhookState({ db, signals, busy }: Pick<Deps, 'db' | 'signals' | 'busy'>): Promise<void> {
  const failing = await countFailingSubjects(db);
  signals.webhooksStand({ ...(await readWebhookState(db, busy.full())), failing });
  signals.mqttStands(await readMqttState(db));
}
