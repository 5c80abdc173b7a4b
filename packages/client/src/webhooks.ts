import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { components } from './public-api.ts';

export { WebhookVerificationError };

/** The body of a webhook. Later releases of the service add types: ignore those you do not know. */
export type WebhookEvent = components['schemas']['Event'];

/** Headers of a request, by names in any case, or a `Headers` object. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/**
 * Checks the signature and the time of a webhook (Standard Webhooks 1.0) and returns its parsed body. `body` is the
 * body as it was received, not parsed and serialised again. Give both secrets while one replaces the other.
 *
 * @throws WebhookVerificationError when no secret fits, a header is missing, or the time is more than 5 minutes away.
 */
export function verifyWebhook(body: string, headers: WebhookHeaders, secrets: string | string[]): WebhookEvent {
  const signed = Object.fromEntries(NAMES.map((name) => [name, valueOf(headers, name)]));
  const all = typeof secrets === 'string' ? [secrets] : secrets;
  let refusal: unknown = new WebhookVerificationError('No secret was given');
  for (const secret of all) {
    try {
      new Webhook(secret).verify(body, signed, { jsonParse: false });
      return JSON.parse(body) as WebhookEvent;
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

function valueOf(headers: WebhookHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const value = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return (Array.isArray(value) ? value.join(' ') : value) ?? '';
}
