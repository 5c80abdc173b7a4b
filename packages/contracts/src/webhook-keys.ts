import { z } from 'zod';
import { defineQuestion } from './question.ts';

/** The API key by which webhook endpoints of a subject were last changed. */
const webhookKey = z.object({
  subject: z.string(),
  key_id: z.string().nullable().describe('null if the service that accepted the request did not name the key'),
});

/** Why endpoints are not sent webhooks any more. */
export const endedKeyReasons = ['key_revoked', 'no_key'] as const;

export type WebhookKey = z.infer<typeof webhookKey>;
export type EndedKey = WebhookKey & { reason: (typeof endedKeyReasons)[number] };

/** Keys of one page. */
export const MAX_WEBHOOK_KEYS = 1_000;

/** Keys that one request ends: with the longest subjects they fit into a body of JSON. */
export const MAX_ENDED_KEYS = 200;

/** By which keys the endpoints that are enabled were last changed, in their order, after one of them. */
export const listWebhookKeys = defineQuestion({
  method: 'get',
  path: '/internal/v1/webhook-keys',
  query: z.object({ after_subject: z.string().optional(), after_key: z.string().optional() }),
  reply: z.object({ items: z.array(webhookKey) }).meta({ id: 'WebhookKeys' }),
});

/** These keys are not in force any more: their endpoints are disabled, and what waits for them is dropped. */
export const endWebhookKeys = defineQuestion({
  method: 'post',
  path: '/internal/v1/webhook-keys/ended',
  body: z.object({ items: z.array(webhookKey.extend({ reason: z.enum(endedKeyReasons) })).max(MAX_ENDED_KEYS) }),
  reply: z.object({ endpoints: z.int(), deliveries: z.int() }).meta({ id: 'WebhookKeysEnded' }),
});
