import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { brokersOf } from './mqtt-support.ts';
import { startNotify } from './support.ts';
import type { TestNotify } from './support.ts';

let notify: TestNotify;
beforeAll(async () => {
  notify = await startNotify();
});
afterAll(() => notify.stop());

test.each([
  ['without TLS', { url: 'http://broker.example.org' }, 'mqtt_url_invalid'],
  ['with a user in the address', { url: 'mqtts://a:b@broker.example.org' }, 'mqtt_url_invalid'],
  ['with a path', { url: 'mqtts://broker.example.org/topic' }, 'mqtt_url_invalid'],
  ['inside', { url: 'mqtts://10.0.0.1' }, 'mqtt_url_invalid'],
  ['on port 22', { url: 'mqtts://8.8.8.8:22' }, 'mqtt_url_invalid'],
  ['with a wildcard in its prefix', { url: 'mqtts://broker.example.org', topic_prefix: 'a/+' }, 'body_invalid'],
  ['with a system topic', { url: 'mqtts://broker.example.org', topic_prefix: '$SYS' }, 'body_invalid'],
  [
    'with no key',
    { url: 'mqtts://broker.example.org', login: { certificate: 'x', private_key: 'y' } },
    'mqtt_login_invalid',
  ],
])('refuses an endpoint %s', async (_what, body, reason) => {
  const answer = await brokersOf(notify).call('PUT', 'home', body);
  expect([answer.status, (answer.body['details'] as { reason: string }).reason]).toEqual([400, reason]);
});

test('ten endpoints are enough', async () => {
  const own = brokersOf(notify);
  const body = { url: 'mqtts://broker.example.org', enabled: false };
  for (let count = 0; count < 10; count += 1) await own.put(body, `home-${count}`);
  const answer = await own.call('PUT', randomUUID(), body);
  expect([answer.status, answer.body['details']]).toEqual([
    409,
    { reason: 'limit_reached', limit: 'mqtt_endpoints', allowed: 10 },
  ]);
});
