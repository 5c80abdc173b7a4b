import { readMqttState } from '../db/mqtt-leases.ts';
import { readWebhookState } from '../db/webhook-deliveries.ts';
import type { Deps } from './deps.ts';

/** Tells operators how many webhooks and MQTT endpoints wait, and for how long. */
export async function tellWebhookState({ db, signals, busy }: Pick<Deps, 'db' | 'signals' | 'busy'>): Promise<void> {
  signals.webhooksStand(await readWebhookState(db, busy.full()));
  signals.mqttStands(await readMqttState(db));
}
