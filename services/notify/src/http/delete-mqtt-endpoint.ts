import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { deleteMqttEndpoint } from '../use-cases/mqtt/delete-mqtt-endpoint.ts';

const PATH = '/v1/vision/mqtt-endpoints/{endpoint_id}';

export const deleteMqttEndpointRoute = (deps: Pick<Deps, 'db' | 'wakeMqtt'>) =>
  route(
    {
      operation: 'deleteMqttEndpoint',
      method: 'delete',
      path: PATH,
      summary: 'Deletes an MQTT endpoint',
      description:
        'Deletes an endpoint with its login; nothing more is published to it. A repeat returns the same response, as ' +
        'does an id that you have never used.',
      tag: 'MQTT',
      audience: 'public',
      params: paramsOf(PATH),
      responses: { 204: { description: 'There is no such endpoint any more' } },
    },
    async ({ params, caller }) => {
      await deleteMqttEndpoint(deps, caller.subject, params['endpoint_id'] ?? '');
      return { status: 204 };
    },
  );
