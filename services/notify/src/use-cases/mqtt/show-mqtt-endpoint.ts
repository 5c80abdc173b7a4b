import { fail } from '@vision/contracts/errors';
import type { SecretBox } from '@vision/shared/secret-box';
import type { MqttEndpointRow } from '../../db/mqtt-endpoints.ts';
import { openBroker } from '../../domain/mqtt-broker.ts';
import type { MqttDisabledReason, MqttFailure } from '../../domain/mqtt-failure.ts';

/** An endpoint in the form for its owner: with its address, without passwords and keys. */
export interface ShownMqttEndpoint {
  endpointId: string;
  url: string;
  login: 'none' | 'password' | 'certificate';
  username: string | undefined;
  topicPrefix: string;
  eventTypes: string[] | null;
  isEnabled: boolean;
  disabledReason: MqttDisabledReason | null;
  connectedSince: Date | null;
  failingSince: Date | null;
  lastFailure: MqttFailure | null;
  /** The broker has acknowledged all its events up to this number of the log. */
  sequence: number;
  createdAt: Date;
  updatedAt: Date;
}

export function shownMqttEndpoint(box: SecretBox, row: MqttEndpointRow): ShownMqttEndpoint {
  const { url, login } = openBroker(box, row.endpoint_key, row.broker_box);
  const username = login && 'username' in login ? login.username : undefined;
  return {
    endpointId: row.endpoint_id,
    url,
    login: login === undefined ? 'none' : username === undefined ? 'certificate' : 'password',
    username,
    topicPrefix: row.topic_prefix,
    eventTypes: row.event_types,
    isEnabled: row.is_enabled,
    disabledReason: row.disabled_reason,
    connectedSince: row.lease_until > new Date() ? row.connected_since : null,
    failingSince: row.failing_since,
    lastFailure: row.last_failure,
    sequence: row.position,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The row, when there is one. @throws AppError `mqtt_endpoint_not_found`. */
export function foundMqttEndpoint(row: MqttEndpointRow | undefined): MqttEndpointRow {
  if (row) return row;
  throw mqttEndpointNotFound();
}

export const mqttEndpointNotFound = () =>
  fail.notFound('You have no MQTT endpoint with this endpoint_id.', 'mqtt_endpoint_not_found');
