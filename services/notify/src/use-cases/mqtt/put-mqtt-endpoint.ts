import { randomUUID } from 'node:crypto';
import { fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';
import { inTransaction } from '@vision/shared/db/transaction';
import {
  countMqttEndpoints,
  findMqttEndpoint,
  insertMqttEndpoint,
  lockMqttEndpointsOf,
  replaceMqttEndpoint,
} from '../../db/mqtt-endpoints.ts';
import type { MqttEndpointRow, MqttSettings } from '../../db/mqtt-endpoints.ts';
import {
  MAX_MQTT_ENDPOINTS,
  checkMqttCertificates,
  openBroker,
  parseMqttUrl,
  sealBroker,
} from '../../domain/mqtt-broker.ts';
import type { MqttBroker, MqttLogin } from '../../domain/mqtt-broker.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { foundMqttEndpoint, shownMqttEndpoint } from './show-mqtt-endpoint.ts';
import type { ShownMqttEndpoint } from './show-mqtt-endpoint.ts';

export interface MqttEndpointRequest {
  endpointId: string;
  url: string;
  /** Absent: the previous one, if the address is unchanged. Null: none. */
  login: MqttLogin | null | undefined;
  serverCa: string | undefined;
  topicPrefix: string;
  /** All types when null. */
  eventTypes: string[] | null;
  isEnabled: boolean;
}

type PutDeps = Pick<Deps, 'db' | 'webhooks' | 'wakeMqtt'>;

/** Creates an endpoint of a subject, or replaces its settings. */
export async function putMqttEndpoint(
  deps: PutDeps,
  { subject, keyId }: Pick<Caller, 'subject' | 'keyId'>,
  request: MqttEndpointRequest,
): Promise<{ endpoint: ShownMqttEndpoint; isNew: boolean }> {
  const { box, mqtt } = neededTools(deps);
  const url = parseMqttUrl(request.url, mqtt.rules);
  checkMqttCertificates({ login: request.login ?? undefined, serverCa: request.serverCa });
  const made = await inTransaction(deps.db, async (tx) => {
    await lockMqttEndpointsOf(tx, subject);
    const before = await findMqttEndpoint(tx, subject, request.endpointId);
    if (!before && (await countMqttEndpoints(tx, subject)) >= MAX_MQTT_ENDPOINTS) throw mqttLimitReached();
    const endpointKey = before?.endpoint_key ?? randomUUID();
    const known = before && openBroker(box, endpointKey, before.broker_box);
    const login = request.login === undefined ? keptLogin(known, url.href) : (request.login ?? undefined);
    const broker = { url: url.href, login, serverCa: request.serverCa };
    const { topicPrefix, eventTypes, isEnabled, endpointId } = request;
    const decided = { topicPrefix, eventTypes, isEnabled, keyId };
    // A repeat interrupts no connection.
    if (before && known && textOf(known, decidedOf(before)) === textOf(broker, decided))
      return { row: before, isNew: false };
    const settings = { ...decided, brokerBox: sealBroker(box, endpointKey, broker), host: url.host };
    if (before) await replaceMqttEndpoint(tx, endpointKey, settings);
    else await insertMqttEndpoint(tx, { endpointKey, subject, endpointId }, settings);
    return { row: foundMqttEndpoint(await findMqttEndpoint(tx, subject, endpointId)), isNew: !before };
  });
  deps.wakeMqtt();
  return { endpoint: shownMqttEndpoint(box, made.row), isNew: made.isNew };
}

/** A login is sent to the broker for which it was given, and to no other. */
const keptLogin = (known: MqttBroker | undefined, href: string): MqttLogin | undefined =>
  known?.url === href ? known.login : undefined;

/** All settings that a caller chooses for an endpoint, as one text. */
const textOf = (broker: MqttBroker, { topicPrefix, eventTypes, isEnabled, keyId }: Decided): string =>
  JSON.stringify([broker, topicPrefix, eventTypes, isEnabled, keyId ?? null]);

type Decided = Pick<MqttSettings, 'topicPrefix' | 'eventTypes' | 'isEnabled'> & { keyId: string | null | undefined };

const decidedOf = (row: MqttEndpointRow): Decided => ({
  topicPrefix: row.topic_prefix,
  eventTypes: row.event_types,
  isEnabled: row.is_enabled,
  keyId: row.key_id,
});

/** Error for exceeding the number of endpoints. */
export const mqttLimitReached = () =>
  fail.conflict('limit_reached', `You have ${MAX_MQTT_ENDPOINTS} MQTT endpoints; delete one first.`, {
    limit: 'mqtt_endpoints',
    allowed: MAX_MQTT_ENDPOINTS,
  });
