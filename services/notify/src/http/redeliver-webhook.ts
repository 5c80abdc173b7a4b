import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { deliveryNotFound, redeliverWebhook } from '../use-cases/webhooks/redeliver-webhook.ts';
import { endpointDisabled } from '../use-cases/webhooks/show-endpoint.ts';
import { acceptedDelivery, exampleAccepted } from './test-webhook-endpoint.ts';

const PATH = '/v1/vision/webhook-deliveries/{delivery_id}/redeliver';

export const redeliverWebhookRoute = (deps: Pick<Deps, 'db' | 'webhooks' | 'wakeWebhooks'>) =>
  route(
    {
      operation: 'redeliverWebhook',
      method: 'post',
      path: PATH,
      summary: 'Sends a delivery again',
      description:
        'Makes a delivery due now, also a delivered or failed one, under the same `webhook-id` and with all attempts anew.',
      tag: 'Webhooks',
      audience: 'public',
      params: paramsOf(PATH),
      responses: { 202: { description: 'The delivery is due', schema: acceptedDelivery, example: exampleAccepted } },
      refusalExamples: () => [deliveryNotFound(), endpointDisabled()],
    },
    async ({ params, caller }) => {
      const delivery_id = params['delivery_id'] ?? '';
      await redeliverWebhook(deps, caller.subject, delivery_id);
      return { status: 202, body: { delivery_id } };
    },
  );
