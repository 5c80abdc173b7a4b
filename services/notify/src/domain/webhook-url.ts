import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { parseStrictUrl } from '@vision/shared/net/strict-url';
import type { StrictUrl, TextRules } from '@vision/shared/net/strict-url';

/** Address of webhooks, in validated parts. All of it is secret: paths and queries often hold a token. */
export type WebhookUrl = StrictUrl<'http' | 'https'>;

export interface WebhookRules {
  policy: TextRules;
  /** Whether addresses may begin with `http://`. */
  allowsHttp: boolean;
}

const ports = { http: 80, https: 443 } as const;

/**
 * Parses the address of a webhook endpoint. A name is resolved when a webhook is sent, not here.
 * @throws AppError OP-TASK-REQUEST-INVALID `webhook_url_invalid`; the message contains no part of the address.
 */
export function parseWebhookUrl(text: unknown, { policy, allowsHttp }: WebhookRules): WebhookUrl {
  const url = parseStrictUrl(text, { defaultPorts: ports, policy, refuse: webhookUrlInvalid });
  if (url.scheme === 'http' && !allowsHttp) throw webhookUrlInvalid('must begin with https://');
  if (url.user !== '' || url.password !== '')
    throw webhookUrlInvalid('may not hold a user name or password; check the signature of webhooks instead');
  return url;
}

export function webhookUrlInvalid(words: string): AppError {
  return fail.requestInvalid('webhook_url_invalid', `The url ${words}.`, { field: 'url' });
}
