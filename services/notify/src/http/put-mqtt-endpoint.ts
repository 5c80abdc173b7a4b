import { z } from 'zod';
import { fail, refusalOf } from '@vision/contracts/errors';
import { paramsOf } from '@vision/contracts/ids';
import { parsePart, route } from '@vision/shared/http/route';
import { checkMqttCertificates, mqttUrlInvalid } from '../domain/mqtt-broker.ts';
import type { Deps } from '../use-cases/deps.ts';
import { mqttLimitReached, putMqttEndpoint } from '../use-cases/mqtt/put-mqtt-endpoint.ts';
import {
  exampleMqttEndpoint,
  exampleNewMqttEndpoint,
  loginField,
  mqttEndpoint,
  mqttEndpointBody,
  serverCaField,
  topicPrefixField,
} from './mqtt-endpoint.ts';
import { eventTypesField } from './webhook-endpoint.ts';

const PATH = '/v1/vision/mqtt-endpoints/{endpoint_id}';

const body = z
  .strictObject({
    url: z
      .string()
      .describe(
        'Address of the broker: `mqtts`, port 8883, without user name, password and path. Names are resolved for each ' +
          'connection; addresses that are not public are refused, unless the operator allows them',
      ),
    login: loginField,
    server_ca: serverCaField,
    topic_prefix: topicPrefixField.default('vision'),
    event_types: eventTypesField.optional(),
    enabled: z
      .boolean()
      .default(true)
      .describe('Whether events are published. An endpoint that is enabled begins with the next event'),
  })
  .meta({ id: 'MqttEndpointRequest' });

const { url, topic_prefix, event_types } = exampleMqttEndpoint;
const bodyExample = {
  url,
  login: { username: 'vision', password: 'a-password-of-yours' },
  topic_prefix,
  event_types,
  enabled: true,
};
const bodyReasons = { url: 'mqtt_url_invalid' } as const;

export const putMqttEndpointRoute = (deps: Pick<Deps, 'db' | 'webhooks' | 'wakeMqtt'>) =>
  route(
    {
      operation: 'putMqttEndpoint',
      method: 'put',
      path: PATH,
      summary: 'Creates or replaces an MQTT endpoint',
      description:
        'Creates the endpoint, or replaces all its settings; repeating the request changes nothing. The service ' +
        'connects to the broker by MQTT 3.1.1 and publishes the events that follow, in their order, with QoS 1 and ' +
        'without retain; it subscribes to nothing. The topic is `<topic_prefix>/<type>/<camera>`, where the camera is ' +
        'the `client_ref` or, without one, the `task_id`; events that are about no task have the topic ' +
        '`<topic_prefix>/<type>`. The payload is the event as in `GET /v1/vision/events`. An event counts as published ' +
        'when the broker has acknowledged it, and may arrive more than once under the same `event_id`. After a failure ' +
        'the service connects again, at first after a second, later every five minutes. An endpoint belongs to the API ' +
        'key that sent this request last: within 10 s after that key is revoked, or after your last key has expired, ' +
        'the endpoint is disabled, and an event says so. To replace a key, send this request with the new key before ' +
        'you revoke the old one.',
      tag: 'MQTT',
      audience: 'public',
      params: paramsOf(PATH),
      body,
      bodyExample,
      bodyReasons,
      responses: {
        200: { description: 'The endpoint was replaced', schema: mqttEndpoint, example: exampleMqttEndpoint },
        201: { description: 'The endpoint was created', schema: mqttEndpoint, example: exampleNewMqttEndpoint },
      },
      refusalExamples: () => [
        refusalOf(() => parsePart(body, { ...bodyExample, topic_prefix: 'home/#' }, 'body', bodyReasons)),
        refusalOf(() => parsePart(body, { ...bodyExample, retain: true }, 'body', bodyReasons)),
        mqttUrlInvalid('must begin with mqtts://'),
        refusalOf(() => checkMqttCertificates({ login: { certificate: 'none', private_key: 'none' } })),
        mqttLimitReached(),
        fail.sysUnavailable('webhooks_not_configured', undefined, 60),
      ],
    },
    async ({ params, body: asked, caller }) => {
      const { endpoint, isNew } = await putMqttEndpoint(deps, caller, {
        endpointId: params['endpoint_id'] ?? '',
        url: asked.url,
        login: asked.login,
        serverCa: asked.server_ca,
        topicPrefix: asked.topic_prefix,
        eventTypes: asked.event_types ? [...new Set(asked.event_types)] : null,
        isEnabled: asked.enabled,
      });
      return { status: isNew ? 201 : 200, body: mqttEndpointBody(endpoint) };
    },
  );
