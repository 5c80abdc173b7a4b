import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getWebhookEndpoint } from '../use-cases/webhooks/get-webhook-endpoint.ts';
import { endpointNotFound } from '../use-cases/webhooks/show-endpoint.ts';
import { endpointBody, exampleEndpoint, webhookEndpoint } from './webhook-endpoint.ts';

const PATH = '/v1/vision/webhook-endpoints/{endpoint_id}';

export const getWebhookEndpointRoute = (deps: Pick<Deps, 'db' | 'webhooks'>) =>
  route(
    {
      operation: 'getWebhookEndpoint',
      method: 'get',
      path: PATH,
      summary: 'Returns a webhook endpoint',
      description: 'Returns the settings of an endpoint and whether it is enabled. Secrets are never returned.',
      tag: 'Webhooks',
      audience: 'public',
      params: paramsOf(PATH),
      responses: { 200: { description: 'The endpoint', schema: webhookEndpoint, example: exampleEndpoint } },
      refusalExamples: () => [endpointNotFound()],
    },
    async ({ params, caller }) => {
      const endpoint = await getWebhookEndpoint(deps, caller.subject, params['endpoint_id'] ?? '');
      return { status: 200, body: endpointBody(endpoint) };
    },
  );
