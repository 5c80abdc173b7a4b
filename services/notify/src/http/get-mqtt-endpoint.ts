import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getMqttEndpoint } from '../use-cases/mqtt/get-mqtt-endpoint.ts';
import { mqttEndpointNotFound } from '../use-cases/mqtt/show-mqtt-endpoint.ts';
import { exampleMqttEndpoint, mqttEndpoint, mqttEndpointBody } from './mqtt-endpoint.ts';

const PATH = '/v1/vision/mqtt-endpoints/{endpoint_id}';

export const getMqttEndpointRoute = (deps: Pick<Deps, 'db' | 'webhooks'>) =>
  route(
    {
      operation: 'getMqttEndpoint',
      method: 'get',
      path: PATH,
      summary: 'Returns an MQTT endpoint',
      description:
        'Returns the settings of an endpoint, whether it is connected, and how far the broker has acknowledged. ' +
        'Passwords and keys are never returned.',
      tag: 'MQTT',
      audience: 'public',
      params: paramsOf(PATH),
      responses: { 200: { description: 'The endpoint', schema: mqttEndpoint, example: exampleMqttEndpoint } },
      refusalExamples: () => [mqttEndpointNotFound()],
    },
    async ({ params, caller }) => {
      const endpoint = await getMqttEndpoint(deps, caller.subject, params['endpoint_id'] ?? '');
      return { status: 200, body: mqttEndpointBody(endpoint) };
    },
  );
