import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { deleteWebhookEndpoint } from '../use-cases/webhooks/delete-webhook-endpoint.ts';

const PATH = '/v1/vision/webhook-endpoints/{endpoint_id}';

export const deleteWebhookEndpointRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'deleteWebhookEndpoint',
      method: 'delete',
      path: PATH,
      summary: 'Deletes a webhook endpoint',
      description:
        'Deletes an endpoint with its secrets and deliveries; pending webhooks are not sent. A repeat returns the same ' +
        'response, as does an id that you have never used.',
      tag: 'Webhooks',
      audience: 'public',
      params: paramsOf(PATH),
      responses: { 204: { description: 'There is no such endpoint any more' } },
    },
    async ({ params, caller }) => {
      await deleteWebhookEndpoint(deps, caller.subject, params['endpoint_id'] ?? '');
      return { status: 204 };
    },
  );
