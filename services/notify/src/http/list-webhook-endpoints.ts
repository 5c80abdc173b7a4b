import { z } from 'zod';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { listWebhookEndpoints } from '../use-cases/webhooks/list-webhook-endpoints.ts';
import { endpointBody, exampleEndpoint, webhookEndpoint } from './webhook-endpoint.ts';

const list = z.object({ items: z.array(webhookEndpoint) }).meta({ id: 'WebhookEndpointList' });

export const listWebhookEndpointsRoute = (deps: Pick<Deps, 'db' | 'webhooks'>) =>
  route(
    {
      operation: 'listWebhookEndpoints',
      method: 'get',
      path: '/v1/vision/webhook-endpoints',
      summary: 'Lists your webhook endpoints',
      description: 'Returns all your endpoints, ordered by `endpoint_id`.',
      tag: 'Webhooks',
      audience: 'public',
      responses: { 200: { description: 'Your endpoints', schema: list, example: { items: [exampleEndpoint] } } },
    },
    async ({ caller }) => {
      const items = await listWebhookEndpoints(deps, caller.subject);
      return { status: 200, body: { items: items.map(endpointBody) } };
    },
  );
