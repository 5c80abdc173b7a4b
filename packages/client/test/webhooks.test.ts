import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { verifyWebhook, WebhookVerificationError } from '@vision/client/webhooks';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const body = '{"event_id":"1","type":"task.succeeded"}';

/** As Standard Webhooks 1.0 describes it, without the library that checks it. */
function signed(secret: string, text = body, at = Math.floor(Date.now() / 1000)): Record<string, string> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`msg_1.${at}.${text}`).digest('base64');
  return { 'Webhook-Id': 'msg_1', 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` };
}

test('a signed body is returned, by either of two secrets and from any form of headers', () => {
  const [old, next] = [newSecret(), newSecret()];
  // Two signatures share one time.
  const now = Math.floor(Date.now() / 1000);
  const headers = signed(old, body, now);
  expect(verifyWebhook(body, headers, old)).toEqual(JSON.parse(body));
  expect(verifyWebhook(body, new Headers(headers), [next, old])).toEqual(JSON.parse(body));
  const both = `${signed(next, body, now)['webhook-signature'] ?? ''} ${headers['webhook-signature'] ?? ''}`;
  expect(verifyWebhook(body, { ...headers, 'webhook-signature': [both] }, next)).toEqual(JSON.parse(body));
});

test.each([
  ['another secret', signed(newSecret()), body],
  ['a changed body', undefined, `${body} `],
  ['an old time', 'old', body],
  ['no headers', {}, body],
] as [string, Record<string, string> | 'old' | undefined, string][])('%s is refused', (_name, given, text) => {
  const secret = newSecret();
  const headers =
    given === 'old' ? signed(secret, body, Math.floor(Date.now() / 1000) - 600) : (given ?? signed(secret));
  expect(() => verifyWebhook(text, headers, secret)).toThrow(WebhookVerificationError);
});

test('without a secret everything is refused', () => {
  expect(() => verifyWebhook(body, signed(newSecret()), [])).toThrow(WebhookVerificationError);
});
