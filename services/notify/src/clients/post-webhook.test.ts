import { afterAll, expect, test } from '@jest/globals';
import { AddressError } from '@vision/shared/net/address-error';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { parseWebhookUrl } from '../domain/webhook-url.ts';
import { createPostWebhook } from './post-webhook.ts';

const recorded = recordSpans();
afterAll(() => recorded.stop());

test('a span shows how long a name server took and how it failed, without path and query', async () => {
  const policy = createAddressPolicy([], { lookup: () => Promise.reject(new AddressError('resolve_timeout')) });
  const { resolve } = createPostWebhook({ policy, connectMs: 3_000, totalMs: 15_000 });
  const url = parseWebhookUrl('https://hooks.example.org/path?token=secret', { policy, allowsHttp: false });
  expect(await resolve({ url, signal: new AbortController().signal })).toEqual({ outcome: 'unreachable' });
  expect(recorded.spans().map(({ name, attributes }) => ({ name, attributes }))).toEqual([
    {
      name: 'resolve a webhook host',
      attributes: {
        'url.scheme': 'https',
        'server.address': 'hooks.example.org',
        'error.type': 'resolve_timeout',
      },
    },
  ]);
});
