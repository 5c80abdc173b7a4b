import { z } from 'zod';
import { fail, refusalOf } from '@vision/contracts/errors';
import { paramsOf } from '@vision/contracts/ids';
import { parsePart, route } from '@vision/shared/http/route';
import { checkWebhookSecret } from '../domain/webhook-secret.ts';
import { webhookUrlInvalid } from '../domain/webhook-url.ts';
import type { Deps } from '../use-cases/deps.ts';
import { endpointLimitReached, putWebhookEndpoint } from '../use-cases/webhooks/put-webhook-endpoint.ts';
import {
  endpointBody,
  eventTypesField,
  exampleEndpoint,
  exampleSecret,
  newWebhookEndpoint,
  secretField,
  webhookEndpoint,
} from './webhook-endpoint.ts';

const PATH = '/v1/vision/webhook-endpoints/{endpoint_id}';

const body = z
  .strictObject({
    url: z
      .string()
      .describe(
        'Address to send webhooks to: `https`, port 443, without user name and password. Names are resolved for each ' +
          'webhook; addresses that are not public are refused, unless the operator allows them',
      ),
    event_types: eventTypesField.optional(),
    secret: secretField,
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Whether webhooks are sent. An endpoint that is enabled begins with the next event, and with what is held',
      ),
  })
  .meta({ id: 'WebhookEndpointRequest' });

const bodyExample = { url: exampleEndpoint.url, event_types: exampleEndpoint.event_types, enabled: true };
const bodyReasons = { url: 'webhook_url_invalid', secret: 'secret_invalid' } as const;

export const putWebhookEndpointRoute = (deps: Pick<Deps, 'db' | 'webhooks' | 'wakeWebhooks'>) =>
  route(
    {
      operation: 'putWebhookEndpoint',
      method: 'put',
      path: PATH,
      summary: 'Creates or replaces a webhook endpoint',
      description:
        'Creates the endpoint, or replaces all its settings; repeating the request changes nothing. A new endpoint is ' +
        'sent the events that follow. When you send no `secret`, the service makes one and returns it once, in the ' +
        'response to the creation. `secret` in a later request replaces the secret at once; to replace it without ' +
        'failing signatures, use `rotate-secret`. Sending `"enabled": true` enables an endpoint again that the service ' +
        'has disabled. An endpoint belongs to the API key that sent this request last. Within 10 s after that key is ' +
        'revoked, or after your last key has expired, nothing more is sent to it: it is disabled, webhooks that wait for ' +
        'it are dropped, and an event says so. A key that is replaced with an overlap changes nothing; send this request ' +
        'with the new key before you revoke the old one.',
      tag: 'Webhooks',
      audience: 'public',
      params: paramsOf(PATH),
      body,
      bodyExample,
      bodyReasons,
      responses: {
        200: { description: 'The endpoint was replaced', schema: webhookEndpoint, example: exampleEndpoint },
        201: {
          description: 'The endpoint was created',
          schema: newWebhookEndpoint,
          example: { ...exampleEndpoint, secret: exampleSecret },
        },
      },
      refusalExamples: () => [
        refusalOf(() => parsePart(body, { ...bodyExample, event_types: [] }, 'body', bodyReasons)),
        refusalOf(() => parsePart(body, { ...bodyExample, colour: 'red' }, 'body', bodyReasons)),
        webhookUrlInvalid('must begin with https://'),
        refusalOf(() => checkWebhookSecret('whsec_short')),
        endpointLimitReached(20),
        fail.sysUnavailable('webhooks_not_configured', undefined, 60),
      ],
    },
    async ({ params, body: asked, caller }) => {
      const request = {
        endpointId: params['endpoint_id'] ?? '',
        url: asked.url,
        eventTypes: asked.event_types ? [...new Set(asked.event_types)] : null,
        isEnabled: asked.enabled,
        secret: asked.secret,
      };
      const { endpoint, isNew, secret } = await putWebhookEndpoint(deps, caller, request);
      const shown = endpointBody(endpoint);
      return isNew ? { status: 201, body: { ...shown, secret } } : { status: 200, body: shown };
    },
  );
