import { z } from 'zod';
import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { endpointDisabled, endpointNotFound } from '../use-cases/webhooks/show-endpoint.ts';
import { testWebhookEndpoint, tooManyTests } from '../use-cases/webhooks/test-webhook-endpoint.ts';

const PATH = '/v1/vision/webhook-endpoints/{endpoint_id}/test';

/** A delivery that is due now. */
export const acceptedDelivery = z
  .object({ delivery_id: z.uuid().describe('Identifier of the delivery, in the list of deliveries of the endpoint') })
  .meta({ id: 'AcceptedDelivery' });

export const exampleAccepted = { delivery_id: '019cf0a3-7d11-7f00-8a11-4c0d2b7e8c13' };

export const testWebhookEndpointRoute = (deps: Pick<Deps, 'db' | 'webhooks' | 'wakeWebhooks' | 'signals'>) =>
  route(
    {
      operation: 'testWebhookEndpoint',
      method: 'post',
      path: PATH,
      summary: 'Sends a test event to a webhook endpoint',
      description:
        'Logs an event of type `webhook_endpoint.test` and sends it to this endpoint, regardless of its `event_types`. The ' +
        'deliveries of the endpoint tell the outcome. At most 6 tests a minute.',
      tag: 'Webhooks',
      audience: 'public',
      params: paramsOf(PATH),
      responses: { 202: { description: 'The test is being sent', schema: acceptedDelivery, example: exampleAccepted } },
      refusalExamples: () => [endpointNotFound(), endpointDisabled(), tooManyTests()],
    },
    async ({ params, caller }) => {
      const delivery_id = await testWebhookEndpoint(deps, caller.subject, params['endpoint_id'] ?? '');
      return { status: 202, body: { delivery_id } };
    },
  );
