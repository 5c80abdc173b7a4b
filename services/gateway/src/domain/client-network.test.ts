import { expect, test } from '@jest/globals';
import { clientNetwork, networkOf, parseTrusted } from './client-network.ts';

const nobody = parseTrusted([]);
const proxies = parseTrusted(['10.0.0.0/8', '2001:db8:ffff::/48', '192.0.2.7']);
const of = (peer: string, forwardedFor?: string, isTrusted = proxies) =>
  clientNetwork({ peer, forwardedFor }, isTrusted);

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::ffff:1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
  ['2001:DB8:0:1::1', '2001:db8:0:1::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['rubbish', 'unknown'],
  ['010.0.0.1', 'unknown'],
])('%s counts for %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('all spellings and hosts of one /64 count together', () => {
  const spellings = ['2001:db8:1:2::1', '2001:db8:1:2:0:0:0:9', '2001:0db8:0001:0002:ffff::', '2001:db8:1:2:a:b::'];
  expect(new Set(spellings.map(networkOf)).size).toBe(1);
});

test('without trusted proxies X-Forwarded-For is not read', () => {
  expect(of('127.0.0.1', '203.0.113.7', nobody)).toBe('127.0.0.1');
  expect(of('10.0.0.1', '203.0.113.7', nobody)).toBe('10.0.0.1');
});

test.each([
  [
    'the entry of the proxy counts, not what the client wrote before it',
    '10.0.0.1',
    '1.1.1.1, 203.0.113.7',
    '203.0.113.7',
  ],
  ['a chain of trusted proxies is followed', '10.0.0.1', '203.0.113.7, 192.0.2.7, 10.1.1.1', '203.0.113.7'],
  ['a chain of nothing but proxies ends at its first', '10.0.0.1', '10.3.3.3,10.2.2.2', '10.3.3.3'],
  ['an untrusted peer is not believed', '203.0.113.7', '1.1.1.1', '203.0.113.7'],
  ['ports and brackets of proxies are left out', '10.0.0.1', '203.0.113.7:51234', '203.0.113.7'],
  ['so are those of IPv6', '2001:db8:ffff::1', '[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
  ['what is no address counts for the proxy', '10.0.0.1', '203.0.113.7, unknown', '10.0.0.1'],
  ['a mapped peer is known as the proxy it is', '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
])('%s', (_what, peer, forwardedFor, network) => {
  expect(of(peer, forwardedFor)).toBe(network);
});

test('ranges have names, and what is no range is refused by name', () => {
  const isTrusted = parseTrusted(['loopback', 'linklocal', 'uniquelocal']);
  for (const address of ['127.0.0.1', '::1', '10.1.2.3', '172.31.0.1', '192.168.1.1', 'fd00::1', 'fe80::1']) {
    expect(isTrusted(address)).toBe(true);
  }
  for (const address of ['172.32.0.1', '2001:db8::1', '8.8.8.8', '']) expect(isTrusted(address)).toBe(false);
  for (const entry of ['ingress', '10.0.0.0/33', '10.0.0']) expect(() => parseTrusted([entry])).toThrow(entry);
});
