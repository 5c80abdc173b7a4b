import { z } from 'zod';
import { refusalOf } from '@vision/contracts/errors';
import { paramsOf } from '@vision/contracts/ids';
import { parsePart, route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { recoverWebhookEndpoint } from '../use-cases/webhooks/recover-webhook-endpoint.ts';
import { endpointDisabled, endpointNotFound } from '../use-cases/webhooks/show-endpoint.ts';

const PATH = '/v1/vision/webhook-endpoints/{endpoint_id}/recover';

/** The latest time that a date can hold in both JavaScript and PostgreSQL. */
const LATEST_MS = 253_402_300_799_999;

const body = z
  .strictObject({
    since_ms: z
      .int()
      .min(0)
      .max(LATEST_MS)
      .meta({ format: 'int64' })
      .describe('Time of the earliest event to send again, in milliseconds since 1970'),
  })
  .meta({ id: 'RecoveryRequest' });

const recovery = z
  .object({
    deliveries: z.int().min(0).describe('Number of deliveries that are due because of the request'),
    continue_from_ms: z
      .int()
      .meta({ format: 'int64' })
      .optional()
      .describe(
        'Present when more is to be sent than one request takes: repeat the request with it once these are delivered',
      ),
  })
  .meta({ id: 'Recovery', description: 'Events to send again' });

export const recoverWebhookEndpointRoute = (deps: Pick<Deps, 'db' | 'webhooks' | 'wakeWebhooks'>) =>
  route(
    {
      operation: 'recoverWebhookEndpoint',
      method: 'post',
      path: PATH,
      summary: 'Sends missed events again',
      description:
        'Sends the events that were logged since a time and not delivered to the endpoint: failed ones, and those that ' +
        'were logged while it was disabled. Delivered and pending ones stay as they are, so the request can be repeated. ' +
        'Events are available for as long as they are retained (30 days by default).',
      tag: 'Webhooks',
      audience: 'public',
      params: paramsOf(PATH),
      body,
      bodyExample: { since_ms: 1_773_561_600_000 },
      responses: { 202: { description: 'Events are being sent', schema: recovery, example: { deliveries: 17 } } },
      refusalExamples: () => [
        refusalOf(() => parsePart(body, { since_ms: -1 }, 'body')),
        endpointNotFound(),
        endpointDisabled(),
      ],
    },
    async ({ params, body: { since_ms: sinceMs }, caller }) => {
      const request = { endpointId: params['endpoint_id'] ?? '', sinceMs };
      const { deliveries, continueFromMs } = await recoverWebhookEndpoint(deps, caller.subject, request);
      return { status: 202, body: { deliveries, continue_from_ms: continueFromMs } };
    },
  );
