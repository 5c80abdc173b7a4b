import { expect, test } from '@jest/globals';
import { AddressError } from './address-error.ts';
import { createAddressPolicy } from './address-policy.ts';
import type { Lookup } from './name-lookup.ts';

const policy = createAddressPolicy();
const local = createAddressPolicy(['127.0.0.0/8', '::1/128', '10.1.0.0/16']);

test.each(['8.8.8.8', '2606:4700:4700::1111', '1.1.1.1'])('allows the public address %s', (address) => {
  expect(policy.allows(address)).toBe(true);
  expect(policy.checkLiteral(address)).toBe(address);
});

test.each([
  '127.0.0.1',
  '127.1.2.3',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.9',
  '192.0.0.1',
  '168.63.129.16',
  '::',
  '::1',
  'fe80::1',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:169.254.169.254',
  '::127.0.0.1',
  '::7f00:1',
  '::a00:1',
  '4000::1',
  'e000::1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  '3fff::1',
  '5f00::1',
  '100::1',
  '192.88.99.1',
])('forbids the address %s', (address) => {
  expect(policy.allows(address)).toBe(false);
  expect(() => policy.checkLiteral(address.includes(':') ? `[${address}]` : address)).toThrow(AddressError);
});

test.each(['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0', '010.0.0.1', 'fe80::1%eth0', '', 'example.org'])(
  'never takes %j for an address',
  (text) => {
    expect(policy.allows(text)).toBe(false);
  },
);

test('a name is left to the resolver, a name of this machine is not', () => {
  expect(policy.checkLiteral('camera.example.org')).toBeUndefined();
  expect(() => policy.checkLiteral('LOCALHOST')).toThrow('address_forbidden');
  expect(() => policy.checkLiteral('a.localhost.')).toThrow('address_forbidden');
  expect(local.checkLiteral('localhost')).toBe('127.0.0.1');
});

test('the exceptions of the operator are allowed, also when wrapped into IPv6, and nothing beside them', () => {
  expect(local.allows('127.0.0.1')).toBe(true);
  expect(local.allows('::ffff:127.0.0.1')).toBe(true);
  expect(local.allows('::1')).toBe(true);
  expect(local.allows('10.1.2.3')).toBe(true);
  expect(local.allows('10.2.0.1')).toBe(false);
});

test('an exception that is no CIDR stops the start', () => {
  expect(() => createAddressPolicy(['10.0.0.0'])).toThrow('not a CIDR');
});

const answering =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses;
const pin = (host: string, lookup: Lookup, { cidrs = [], port = 554 }: { cidrs?: string[]; port?: number } = {}) =>
  createAddressPolicy(cidrs, { lookup }).resolvePinned({ host, port }, { deadlineMs: 500 });

test('one address of a name is pinned, IPv4 first', async () => {
  expect(await pin('camera.example.org', answering('2606:4700:4700::1111', '8.8.4.4'))).toBe('8.8.4.4');
});

test('one forbidden answer among several refuses the name', async () => {
  const lookup = answering('8.8.8.8', '10.0.0.1');
  await expect(pin('camera.example.org', lookup)).rejects.toMatchObject({ fault: 'address_forbidden' });
});

test('a name without an address is unknown', async () => {
  await expect(pin('a.example', answering())).rejects.toMatchObject({ fault: 'name_unknown' });
});

test.each([80, 443, 554, 1935, 8080, 8554])('streams may come from port %d', async (port) => {
  expect(() => policy.checkPort({ host: 'camera.example.org', port })).not.toThrow();
  expect(await pin('camera.example.org', answering('8.8.8.8'), { port })).toBe('8.8.8.8');
});

test.each([1, 22, 25, 111, 2375, 3306, 5432, 6379, 6443, 9092, 9200, 27017, 65535])(
  'the text alone shows that port %d is refused, by name and by address',
  async (port) => {
    const refusal = expect.objectContaining({ fault: 'port_forbidden' });
    expect(() => policy.checkPort({ host: 'camera.example.org', port })).toThrow(refusal);
    expect(() => policy.checkPort({ host: '8.8.8.8', port })).toThrow(refusal);
    await expect(pin('camera.example.org', answering('8.8.8.8'), { port })).rejects.toMatchObject(refusal);
  },
);

test('the exceptions of the operator are free on every port, for addresses and for names that lead there', async () => {
  const near = { cidrs: ['10.1.0.0/16'], port: 9000 };
  const exceptions = createAddressPolicy(near.cidrs);
  expect(() => exceptions.checkPort({ host: '10.1.2.3', port: 9000 })).not.toThrow();
  expect(() => exceptions.checkPort({ host: 'camera.example.org', port: 9000 })).not.toThrow();
  expect(() => exceptions.checkPort({ host: '8.8.8.8', port: 9000 })).toThrow('port_forbidden');
  expect(await pin('camera.example.org', answering('10.1.2.3', '10.1.2.4'), near)).toBe('10.1.2.3');
  expect(await pin('10.1.2.3', answering(), near)).toBe('10.1.2.3');
  const refusal = { fault: 'port_forbidden' };
  await expect(pin('camera.example.org', answering('8.8.8.8'), near)).rejects.toMatchObject(refusal);
  await expect(pin('camera.example.org', answering('10.1.2.3', '8.8.8.8'), near)).rejects.toMatchObject(refusal);
  await expect(pin('8.8.8.8', answering(), near)).rejects.toMatchObject(refusal);
});
