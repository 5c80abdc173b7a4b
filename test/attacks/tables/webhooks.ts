import { randomUUID } from 'node:crypto';
import type { Attack, AttackGroup } from '../attack.ts';
import { invalid, said } from '../say.ts';

const URL_INVALID = invalid('webhook_url_invalid');
const SECRET_INVALID = invalid('secret_invalid');
const path = '/v1/vision/webhook-endpoints/attacked';
const json = { 'content-type': 'application/json' };

const put = (name: string, expected: string, sent: object | string): Attack => ({
  name: `an endpoint ${name}`,
  expected,
  attempt: async ({ caller }) => {
    const stranger = await caller();
    const body =
      typeof sent === 'string' ? sent : JSON.stringify({ url: 'https://hooks.example.org/', enabled: false, ...sent });
    return said(await stranger.send('PUT', path, { body, headers: json }));
  },
});

const at = (name: string, url: unknown) => put(`at ${name}`, URL_INVALID, { url });
const base64 = (bytes: number) => Buffer.alloc(bytes, 1).toString('base64');

const other = (name: string, expected: string, [method, rest]: [string, string], sent?: object): Attack => ({
  name,
  expected,
  attempt: async ({ caller }) => {
    const stranger = await caller();
    const body = sent === undefined ? {} : { body: JSON.stringify(sent), headers: json };
    return said(await stranger.send(method, `/v1/vision${rest}`, body));
  },
});

export const webhooks: AttackGroup = {
  title: 'Webhook endpoints',
  wanted: 'requests of ours to addresses inside, or work without end',
  withinMs: 30_000,
  atOnce: 4,
  attacks: [
    at('an address with a user', 'https://user:secret@hooks.example.org/'),
    at('a private address', 'https://10.0.0.1/'),
    at('the metadata of a cloud', 'https://169.254.169.254/latest/meta-data'),
    at('another address of this machine', 'https://127.77.0.1/'),
    at('an address as a number', 'https://2130706433/'),
    at('an address in octal', 'https://0177.0.0.1/'),
    at('an IPv4 address in IPv6', 'https://[::ffff:10.0.0.1]/'),
    at('a link-local address', 'https://[fe80::1]/'),
    at('a public address on the port of SSH', 'https://8.8.8.8:22/'),
    at('port 0', 'https://hooks.example.org:0/'),
    at('a file', 'file:///etc/passwd'),
    at('gopher', 'gopher://hooks.example.org/'),
    at('a camera', 'rtsp://hooks.example.org/'),
    at('two hosts', 'https://evil\\@10.0.0.1/'),
    at('a host with a line break', 'https://hooks.example.org%0d%0aHost:%20inner/'),
    at('2,049 bytes', `https://hooks.example.org/${'a'.repeat(2049 - 26)}`),
    at('a number', 7),
    at('a list', ['https://hooks.example.org/']),
    put('with a secret of 23 bytes', SECRET_INVALID, { secret: `whsec_${base64(23)}` }),
    put('with a secret of 65 bytes', SECRET_INVALID, { secret: `whsec_${base64(65)}` }),
    put('with a secret that is no base64', SECRET_INVALID, { secret: 'whsec_{"$ne":null}' }),
    put('with a secret of 64 KiB', SECRET_INVALID, { secret: `whsec_${'a'.repeat(60_000)}` }),
    put('with an unknown type', invalid('body_invalid'), { event_types: ['constructor'] }),
    put('with 3,000 types', invalid('body_invalid'), {
      event_types: Array.from({ length: 3_000 }, () => 'task.failed'),
    }),
    put('with a field that is not listed', invalid('unknown_field'), { headers: { host: 'inner' } }),
    put('of 64 KiB and more', invalid('body_too_large'), { padding: 'a'.repeat(64 * 1024) }),
    put('that is no JSON', invalid('json_invalid'), '{'),
    other('the deliveries of an unknown endpoint', '404 endpoint_not_found', [
      'GET',
      '/webhook-endpoints/unknown/deliveries',
    ]),
    other('a test of an unknown endpoint', '404 endpoint_not_found', ['POST', '/webhook-endpoints/unknown/test']),
    other('an endpoint with dots for a name', '404 not_found', ['GET', '/webhook-endpoints/%2e%2e']),
    other('an endpoint with a long name', '404 not_found', ['GET', `/webhook-endpoints/${'a'.repeat(65)}`]),
    other('a delivery of another subject', '404 delivery_not_found', [
      'POST',
      `/webhook-deliveries/${randomUUID()}/redeliver`,
    ]),
    other(
      'a recovery since a time beyond dates',
      invalid('body_invalid'),
      ['POST', '/webhook-endpoints/unknown/recover'],
      { since_ms: Number.MAX_SAFE_INTEGER },
    ),
  ],
};
