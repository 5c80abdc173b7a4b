import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brokersOf } from './mqtt-support.ts';
import { startNotify } from './support.ts';
import type { TestNotify } from './support.ts';

let notify: TestNotify;
beforeAll(async () => {
  notify = await startNotify();
});
afterAll(() => notify.stop());

test.each([
  ['of another scheme', { url: 'http://broker.example.org' }, 'mqtt_url_invalid'],
  ['without TLS', { url: 'mqtt://broker.example.org:8883' }, 'mqtt_url_invalid'],
  ['with a user in the address', { url: 'mqtts://a:b@broker.example.org' }, 'mqtt_url_invalid'],
  ['with a path', { url: 'mqtts://broker.example.org/topic' }, 'mqtt_url_invalid'],
  ['inside', { url: 'mqtts://10.0.0.1' }, 'mqtt_url_invalid'],
  ['on port 22', { url: 'mqtts://8.8.8.8:22' }, 'mqtt_url_invalid'],
  ['with a wildcard in its prefix', { url: 'mqtts://broker.example.org', topic_prefix: 'a/+' }, 'body_invalid'],
  ['with a system topic', { url: 'mqtts://broker.example.org', topic_prefix: '$SYS' }, 'body_invalid'],
  ['with a NUL in its user name', { url: 'mqtts://broker.example.org', login: { username: 'a\0' } }, 'body_invalid'],
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

test('names the field that cannot be used, and refuses keys that take seconds to sign with', async () => {
  const refused = async (body: object) => {
    const answer = await brokersOf(notify).call('PUT', 'home', { url: 'mqtts://broker.example.org', ...body });
    return [answer.status, answer.body['details']];
  };
  const reason = 'mqtt_login_invalid';
  expect(await refused({ server_ca: 'x' })).toEqual([400, { reason, field: 'server_ca' }]);
  const dir = mkdtempSync(join(tmpdir(), 'vision-mqtt-key-'));
  const [key, certificate] = [join(dir, 'key.pem'), join(dir, 'certificate.pem')];
  const made = ['-x509', '-newkey', 'rsa:4608', '-nodes', '-days', '2', '-subj', '/CN=client'];
  execFileSync('openssl', ['req', ...made, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const login = { certificate: readFileSync(certificate, 'utf8'), private_key: readFileSync(key, 'utf8') };
  rmSync(dir, { recursive: true });
  expect(await refused({ login })).toEqual([400, { reason, field: 'login' }]);
});
