import type { EndedKey } from '@vision/contracts/webhook-keys';
import { inTransaction } from '@vision/shared/db/transaction';
import { appendToLog } from '../../db/event-log.ts';
import { disableMqttEndpoint, lockMqttEndpointsOfKey } from '../../db/mqtt-endpoints.ts';
import { disableEndpoint } from '../../db/webhook-endpoints.ts';
import { dropWaiting, lockEndpointsOfKey } from '../../db/webhook-keys.ts';
import type { NewEvent } from '../../domain/event.ts';
import { disabledEvent, mqttDisabledEvent } from '../../domain/webhook-event.ts';
import type { Deps } from '../deps.ts';

/** Numbers of ended endpoints and deliveries. */
interface Ended {
  endpoints: number;
  deliveries: number;
}

/**
 * Disables the endpoints that ended keys changed last, notifies their owners by an event, and drops their pending
 * deliveries. An endpoint that another key has changed since stays, so a repeat changes nothing.
 */
export async function endWebhookKeys(deps: Pick<Deps, 'db' | 'signals'>, keys: readonly EndedKey[]): Promise<Ended> {
  const ended = { endpoints: 0, deliveries: 0 };
  for (const key of keys) {
    const done = await endKey(deps, key);
    for (const { event, host } of done.disabled) deps.signals.endpointDisabled(key.reason, host, event);
    for (const { event, host } of done.brokers) deps.signals.mqttDisabled(host, event);
    deps.signals.deliveriesDropped('key_ended', done.deliveries);
    ended.endpoints += done.disabled.length + done.brokers.length;
    ended.deliveries += done.deliveries;
  }
  return ended;
}

interface EndedOfKey {
  disabled: { event: NewEvent; host: string }[];
  brokers: { event: NewEvent; host: string }[];
  deliveries: number;
}

const endKey = ({ db }: Pick<Deps, 'db'>, key: EndedKey): Promise<EndedOfKey> =>
  inTransaction(db, async (tx) => {
    const ended: EndedOfKey = { disabled: [], brokers: [], deliveries: 0 };
    for (const { endpoint_key, endpoint_id, host } of await lockEndpointsOfKey(tx, key)) {
      ended.deliveries += await dropWaiting(tx, endpoint_key);
      await disableEndpoint(tx, endpoint_key, key.reason);
      const about = { subject: key.subject, endpointId: endpoint_id, occurredAt: new Date() };
      const event = disabledEvent(about, endpoint_key, key.reason);
      await appendToLog(tx, event);
      ended.disabled.push({ event, host });
    }
    for (const { endpoint_key, endpoint_id, host } of await lockMqttEndpointsOfKey(tx, key)) {
      await disableMqttEndpoint(tx, endpoint_key, key.reason);
      const about = { subject: key.subject, endpointId: endpoint_id, occurredAt: new Date() };
      const event = mqttDisabledEvent(about, endpoint_key, key.reason);
      await appendToLog(tx, event);
      ended.brokers.push({ event, host });
    }
    return ended;
  });
