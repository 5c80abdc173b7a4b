import { z } from 'zod';
import { storedText } from '@vision/contracts/stored-text';
import { TOPIC_PREFIX } from '../domain/mqtt-topic.ts';
import { mqttDisabledReasons, mqttFailures } from '../domain/mqtt-failure.ts';
import type { ShownMqttEndpoint } from '../use-cases/mqtt/show-mqtt-endpoint.ts';
import { eventTypesField } from './webhook-endpoint.ts';

const MAX_PEM = 16_384;
const pem = (what: string) => z.string().max(MAX_PEM).describe(`${what}, PEM`);

const passwordLogin = z
  .strictObject({
    // MQTT 3.1.1 forbids NUL in text, and a broker closes the connection that sends one.
    username: storedText(256).min(1).describe('User name'),
    password: z.string().max(1024).optional().describe('Password. It is never returned'),
  })
  .meta({ id: 'MqttPasswordLogin' });

const certificateLogin = z
  .strictObject({
    certificate: pem('Client certificate, with those between it and its authority'),
    private_key: pem('Its private key, without a passphrase. It is never returned'),
  })
  .meta({ id: 'MqttCertificateLogin' });

export const topicPrefixField = z
  .string()
  .regex(TOPIC_PREFIX)
  .describe('Beginning of all topics: up to eight parts of letters, digits and `._:-`, separated by `/`');

export const loginField = z
  .union([passwordLogin, certificateLogin], {
    error: 'Send username and password, certificate and private_key, or null',
  })
  .nullable()
  .optional()
  .describe(
    'How to log in: with a user name and a password, or with a client certificate. Absent: the previous login, while ' +
      '`url` stays the same; null: none',
  );

export const serverCaField = pem('Certificate authorities of the broker, instead of the public ones').optional();

export const mqttEndpoint = z
  .object({
    endpoint_id: z.string().describe('Your name of the endpoint'),
    url: z.string().describe('Address of the broker'),
    login: z.enum(['none', 'password', 'certificate']).describe('Kind of login'),
    username: z.string().optional().describe('User name of a login with a password'),
    topic_prefix: z.string().describe('Beginning of all topics'),
    event_types: eventTypesField.optional(),
    enabled: z.boolean().describe('Whether events are published'),
    disabled_reason: z
      .enum(mqttDisabledReasons)
      .optional()
      .describe(
        'Why it is disabled: `failing` (the broker has acknowledged nothing for 72 h, in at least 10 connections), ' +
          '`requested` (by you), `key_revoked` (the API key that changed the endpoint last was revoked), `no_key` (you ' +
          'had no valid API key)',
      ),
    connected_since: z.iso.datetime().optional().describe('Since when there is a connection; absent without one'),
    failing_since: z.iso.datetime().optional().describe('Time of the first failure since the broker worked last'),
    last_failure: z
      .enum(mqttFailures)
      .optional()
      .describe(
        'How the last connection failed or ended: `unreachable` (no address that may be connected to, or no answer to ' +
          'a connection), `timeout` (no login within 10 s, or no acknowledgement within 30 s), `tls_invalid`, `refused` ' +
          '(the broker refused the login), `closed` (by the broker), `protocol_error`',
      ),
    sequence: z
      .int()
      .min(0)
      .meta({ format: 'int64' })
      .describe('The broker has acknowledged all events up to this `sequence` that it is sent'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'MqttEndpoint', description: 'An MQTT broker that events are published to' });

/** An endpoint that connects within seconds. */
export const exampleNewMqttEndpoint: z.infer<typeof mqttEndpoint> = {
  endpoint_id: 'home',
  url: 'mqtts://broker.example.org/',
  login: 'password',
  username: 'vision',
  topic_prefix: 'home/vision',
  event_types: ['alarm.opened', 'alarm.closed'],
  enabled: true,
  sequence: 1_773_563_401_262,
  created_at: '2026-03-15T08:00:00.000Z',
  updated_at: '2026-03-15T08:00:00.000Z',
};

export const exampleMqttEndpoint: z.infer<typeof mqttEndpoint> = {
  ...exampleNewMqttEndpoint,
  connected_since: '2026-03-15T08:00:01.000Z',
};

/** An endpoint in the form for callers. */
export const mqttEndpointBody = (shown: ShownMqttEndpoint): z.infer<typeof mqttEndpoint> => ({
  endpoint_id: shown.endpointId,
  url: shown.url,
  login: shown.login,
  username: shown.username,
  topic_prefix: shown.topicPrefix,
  event_types: (shown.eventTypes ?? undefined) as z.infer<typeof eventTypesField> | undefined,
  enabled: shown.isEnabled,
  disabled_reason: shown.disabledReason ?? undefined,
  connected_since: shown.connectedSince?.toISOString(),
  failing_since: shown.failingSince?.toISOString(),
  last_failure: shown.lastFailure ?? undefined,
  sequence: shown.sequence,
  created_at: shown.createdAt.toISOString(),
  updated_at: shown.updatedAt.toISOString(),
});
