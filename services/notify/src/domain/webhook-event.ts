import { eventIdOf } from './event.ts';
import type { EventType, NewEvent } from './event.ts';
import type { DisabledReason } from './delivery.ts';
import type { MqttDisabledReason } from './mqtt-failure.ts';

interface About {
  subject: string;
  endpointId: string;
  occurredAt: Date;
}

const eventOf = ({ subject, occurredAt }: About, type: EventType, fact: string, data: object): NewEvent => ({
  eventId: eventIdOf(occurredAt, fact),
  subject,
  type,
  occurredAt,
  data: JSON.stringify(data),
});

/** Event for the owner: an endpoint gets no more webhooks. */
export const disabledEvent = (about: About, key: string, reason: DisabledReason): NewEvent =>
  eventOf(about, 'webhook_endpoint.disabled', `disabled ${key} ${about.occurredAt.getTime()}`, {
    endpoint_id: about.endpointId,
    reason,
  });

/** Event for the owner: nothing more is published to a broker. */
export const mqttDisabledEvent = (about: About, key: string, reason: MqttDisabledReason): NewEvent =>
  eventOf(about, 'mqtt_endpoint.disabled', `disabled ${key} ${about.occurredAt.getTime()}`, {
    endpoint_id: about.endpointId,
    reason,
  });

/** An event that is sent to one endpoint only. */
export const testEvent = (about: About, deliveryId: string): NewEvent =>
  eventOf(about, 'webhook_endpoint.test', `test ${deliveryId}`, { endpoint_id: about.endpointId });

/** Event for an endpoint about events that it was not sent, with where to read them. */
export const missedEvent = (
  about: About,
  key: string,
  range: { after: number; upTo: number; cursor: string },
): NewEvent =>
  eventOf(about, 'events.missed', `missed ${key} ${range.after} ${range.upTo}`, {
    endpoint_id: about.endpointId,
    first_sequence: range.after + 1,
    last_sequence: range.upTo,
    cursor: range.cursor,
  });

/** Whether an endpoint receives events of this type. Events about its own gaps are sent in any case. */
export function wants(
  endpoint: { endpointId: string; eventTypes: readonly string[] | null },
  event: { type: EventType; data: string },
): boolean {
  if (event.type === 'webhook_endpoint.test') return false;
  if (event.type === 'events.missed') {
    const { endpoint_id: about } = JSON.parse(event.data) as { endpoint_id?: unknown };
    if (about === endpoint.endpointId) return true;
    // Gaps of another endpoint are sent only to an endpoint that has selected the type.
    return endpoint.eventTypes?.includes(event.type) ?? false;
  }
  return endpoint.eventTypes?.includes(event.type) ?? true;
}
