import type { Attack, AttackGroup } from '../attack.ts';
import { invalid, said } from '../say.ts';

const URL_INVALID = invalid('mqtt_url_invalid');
const LOGIN_INVALID = invalid('mqtt_login_invalid');
const BODY_INVALID = invalid('body_invalid');
const path = '/v1/vision/mqtt-endpoints/attacked';
const json = { 'content-type': 'application/json' };

const put = (name: string, expected: string, sent: object | string): Attack => ({
  name: `an MQTT endpoint ${name}`,
  expected,
  attempt: async ({ caller }) => {
    const stranger = await caller();
    const body =
      typeof sent === 'string' ? sent : JSON.stringify({ url: 'mqtts://broker.example.org', enabled: false, ...sent });
    return said(await stranger.send('PUT', path, { body, headers: json }));
  },
});

const at = (name: string, url: unknown) => put(`at ${name}`, URL_INVALID, { url });

export const mqtt: AttackGroup = {
  title: 'MQTT endpoints',
  wanted: 'connections of ours to addresses inside, topics of others, or work without end',
  withinMs: 30_000,
  atOnce: 4,
  attacks: [
    at('an address with a user', 'mqtts://user:secret@broker.example.org'),
    at('a private address', 'mqtts://10.0.0.1'),
    at('the metadata of a cloud', 'mqtts://169.254.169.254'),
    at('another address of this machine', 'mqtts://127.77.0.1'),
    at('an address in octal', 'mqtts://0177.0.0.1'),
    at('an IPv4 address in IPv6', 'mqtts://[::ffff:10.0.0.1]'),
    at('a public address on the port of SSH', 'mqtts://8.8.8.8:22'),
    at('an address with a path', 'mqtts://broker.example.org/$SYS'),
    at('a WebSocket', 'wss://broker.example.org'),
    at('a file', 'file:///run/mosquitto.sock'),
    at('2,049 bytes', `mqtts://${'a'.repeat(2049 - 8)}`),
    at('a number', 7),
    put('with wildcards in its topics', BODY_INVALID, { topic_prefix: 'home/#' }),
    put('with topics of the broker', BODY_INVALID, { topic_prefix: '$SYS/broker' }),
    put('with a prefix of 9 parts', BODY_INVALID, { topic_prefix: Array(9).fill('a').join('/') }),
    put('with a line break in its topics', BODY_INVALID, { topic_prefix: 'a\nb' }),
    put('with a password of 64 KiB', invalid('body_too_large'), {
      login: { username: 'a', password: 'a'.repeat(64 * 1024) },
    }),
    put('with a key that is none', LOGIN_INVALID, { login: { certificate: 'a', private_key: 'b' } }),
    put('with authorities that are none', LOGIN_INVALID, { server_ca: '-----BEGIN CERTIFICATE-----\nAAAA' }),
    put('with two kinds of login', BODY_INVALID, { login: { username: 'a', certificate: 'b', private_key: 'c' } }),
    put('with a field that is not listed', invalid('unknown_field'), { will: { topic: '#' } }),
    put('that is no JSON', invalid('json_invalid'), '{'),
    {
      name: 'an MQTT endpoint of another subject',
      expected: '404 mqtt_endpoint_not_found',
      attempt: async ({ caller }) => {
        const [owner, stranger] = [await caller(), await caller()];
        const body = JSON.stringify({ url: 'mqtts://broker.example.org', enabled: false });
        await owner.send('PUT', path, { body, headers: json });
        return said(await stranger.send('GET', path));
      },
    },
  ],
};
