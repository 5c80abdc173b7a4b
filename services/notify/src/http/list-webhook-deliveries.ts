import { z } from 'zod';
import { refusalOf } from '@vision/contracts/errors';
import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import { attemptOutcomes, deliveryStates } from '../domain/delivery.ts';
import {
  DEFAULT_DELIVERIES,
  deliveryCursorInvalid,
  MAX_DELIVERIES,
  parseDeliveryQuery,
} from '../domain/delivery-query.ts';
import type { Deps } from '../use-cases/deps.ts';
import { listWebhookDeliveries } from '../use-cases/webhooks/list-webhook-deliveries.ts';
import { endpointNotFound } from '../use-cases/webhooks/show-endpoint.ts';

const PATH = '/v1/vision/webhook-endpoints/{endpoint_id}/deliveries';

const attempt = z
  .object({
    at: z.iso.datetime(),
    outcome: z
      .enum(attemptOutcomes)
      .describe(
        '`delivered`: status 2xx. `http_status`: another status. `timeout`: no answer in time. `unreachable`: no ' +
          'connection, no valid answer, or an address that is not allowed. `tls_invalid`: the TLS handshake failed',
      ),
    status: z.int().optional().describe('HTTP status; absent without an answer'),
    duration_ms: z.int().min(0).describe('Duration of the attempt in milliseconds'),
  })
  .meta({ id: 'WebhookAttempt' });

const delivery = z
  .object({
    delivery_id: z.uuid(),
    event_id: z.uuid().describe('`event_id` of the event; the header `webhook-id`'),
    type: z.string().describe('Type of the event'),
    state: z
      .enum(deliveryStates)
      .describe(
        '`pending`: due, or waiting for its next attempt. `delivered`. `failed`: no attempt is left. `held`: the ' +
          'endpoint is disabled',
      ),
    attempts: z.array(attempt).describe('Attempts in their order, the last 20'),
    next_at: z.iso.datetime().optional().describe('Time of the next attempt of a `pending` delivery'),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'WebhookDelivery', description: 'One event for one webhook endpoint' });

const page = z
  .object({
    items: z.array(delivery),
    next_cursor: z.string().describe('Cursor of the next page; empty on the last page'),
  })
  .meta({ id: 'WebhookDeliveryPage' });

const documented = z.object({
  cursor: z.string().optional().describe('`next_cursor` of an earlier page'),
  limit: z.int().min(1).max(MAX_DELIVERIES).default(DEFAULT_DELIVERIES).describe('Deliveries on a page'),
  state: z.enum(deliveryStates).optional().describe('State of the deliveries to return; all states by default'),
});

const example: z.infer<typeof page> = {
  items: [
    {
      delivery_id: '019cf0a3-7d11-7f00-8a11-4c0d2b7e8c13',
      event_id: '019cf0a3-60f2-7a10-8c44-1f0d2b7e8c10',
      type: 'webhook_endpoint.test',
      state: 'pending',
      attempts: [{ at: '2026-03-15T08:30:01.400Z', outcome: 'http_status', status: 503, duration_ms: 84 }],
      next_at: '2026-03-15T08:30:06.300Z',
      created_at: '2026-03-15T08:30:01.350Z',
    },
  ],
  next_cursor: '',
};

export const listWebhookDeliveriesRoute = (deps: Pick<Deps, 'db' | 'webhooks' | 'deliveryCursors'>) =>
  route(
    {
      operation: 'listWebhookDeliveries',
      method: 'get',
      path: PATH,
      summary: 'Lists the deliveries of a webhook endpoint',
      description:
        'Returns deliveries, newest first, with the outcome of each attempt. The content of answers is not stored. ' +
        'Deliveries are retained as long as events are.',
      tag: 'Webhooks',
      audience: 'public',
      params: paramsOf(PATH),
      queryDoc: documented,
      responses: { 200: { description: 'Page of deliveries', schema: page, example } },
      refusalExamples: () => [
        refusalOf(() => parseDeliveryQuery({ state: 'lost' })),
        refusalOf(() => parseDeliveryQuery({ colour: 'red' })),
        deliveryCursorInvalid(),
        endpointNotFound(),
      ],
    },
    async ({ params, caller, req }) => {
      const query = parseDeliveryQuery(req.query);
      const request = { endpointId: params['endpoint_id'] ?? '', query };
      const { items, nextCursor } = await listWebhookDeliveries(deps, caller.subject, request);
      const shown = items.map(({ lease_until, created_at, ...row }) => ({
        ...row,
        next_at: row.state === 'pending' ? lease_until.toISOString() : undefined,
        created_at: created_at.toISOString(),
      }));
      return { status: 200, body: { items: shown, next_cursor: nextCursor } };
    },
  );
