import { z } from 'zod';
import { disabledReasons } from '../domain/delivery.ts';
import { eventTypes } from '../domain/event.ts';
import type { ShownEndpoint } from '../use-cases/webhooks/show-endpoint.ts';

export const eventTypesField = z
  .array(z.enum(eventTypes))
  .min(1)
  .max(eventTypes.length)
  .describe('Types of events to send; all types, those to come included, when absent');

const SECRET = 'Secret of the signatures (`whsec_…`). It is in this response only: the service cannot show it again';

export const webhookEndpoint = z
  .object({
    endpoint_id: z.string().describe('Your name of the endpoint'),
    url: z.string().describe('Address that webhooks are sent to'),
    event_types: eventTypesField.optional(),
    enabled: z.boolean().describe('Whether webhooks are sent'),
    disabled_reason: z
      .enum(disabledReasons)
      .optional()
      .describe(
        'Why it is disabled: `failing` (no webhook was delivered for 72 h in at least 10 attempts), `gone` (the ' +
          'receiver answered 410), `requested` (by you), `key_revoked` (the API key that changed the endpoint last was ' +
          'revoked), `no_key` (you had no valid API key)',
      ),
    failing_since: z.iso.datetime().optional().describe('Time of the first failed attempt since the last success'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'WebhookEndpoint', description: 'Address that events are sent to' });

export const newWebhookEndpoint = webhookEndpoint
  .extend({ secret: z.string().optional().describe(`${SECRET}. Absent when you chose it`) })
  .meta({ id: 'NewWebhookEndpoint', description: 'A webhook endpoint with the secret that was made for it' });

export const exampleEndpoint: z.infer<typeof webhookEndpoint> = {
  endpoint_id: 'alarm-centre',
  url: 'https://hooks.example.org/vision',
  event_types: ['task.failed', 'task.succeeded'],
  enabled: true,
  created_at: '2026-03-15T08:00:00.000Z',
  updated_at: '2026-03-15T08:00:00.000Z',
};

export const exampleSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

export const secretField = z
  .string()
  .max(200)
  .describe('Secret of your choice: `whsec_` and 24 to 64 random bytes in base64')
  .optional();

/** An endpoint in the form for callers. */
export const endpointBody = (shown: ShownEndpoint): z.infer<typeof webhookEndpoint> => ({
  endpoint_id: shown.endpointId,
  url: shown.url,
  event_types: (shown.eventTypes ?? undefined) as z.infer<typeof eventTypesField> | undefined,
  enabled: shown.isEnabled,
  disabled_reason: shown.disabledReason ?? undefined,
  failing_since: shown.failingSince?.toISOString(),
  created_at: shown.createdAt.toISOString(),
  updated_at: shown.updatedAt.toISOString(),
});
