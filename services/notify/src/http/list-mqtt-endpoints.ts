import { z } from 'zod';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { listMqttEndpoints } from '../use-cases/mqtt/list-mqtt-endpoints.ts';
import { exampleMqttEndpoint, mqttEndpoint, mqttEndpointBody } from './mqtt-endpoint.ts';

const list = z.object({ items: z.array(mqttEndpoint) }).meta({ id: 'MqttEndpointList' });

export const listMqttEndpointsRoute = (deps: Pick<Deps, 'db' | 'webhooks'>) =>
  route(
    {
      operation: 'listMqttEndpoints',
      method: 'get',
      path: '/v1/vision/mqtt-endpoints',
      summary: 'Lists your MQTT endpoints',
      description: 'Returns all your endpoints, ordered by `endpoint_id`.',
      tag: 'MQTT',
      audience: 'public',
      responses: { 200: { description: 'Your endpoints', schema: list, example: { items: [exampleMqttEndpoint] } } },
    },
    async ({ caller }) => {
      const items = await listMqttEndpoints(deps, caller.subject);
      return { status: 200, body: { items: items.map(mqttEndpointBody) } };
    },
  );
