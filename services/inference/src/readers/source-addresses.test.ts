import { expect, test } from '@jest/globals';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { AddressError } from '@vision/shared/net/address-error';
import type { Lookup } from '@vision/shared/net/name-lookup';
import { createSourceAddresses } from './source-addresses.ts';

const names: Record<string, string[]> = {
  'camera.example.org': ['8.8.8.8'],
  'inside.example.org': ['10.0.0.1'],
  'near.example.org': ['10.1.0.1'],
};
const lookup: Lookup = async (name) => {
  const addresses = names[name];
  if (!addresses) throw new AddressError('name_unknown');
  return addresses;
};
const { parse, resolve } = createSourceAddresses(createAddressPolicy(['10.1.0.0/16'], { lookup }), { deadlineMs: 500 });

test('a name is resolved, and inside the networks of the operator every port is free', async () => {
  expect(await resolve({ host: 'camera.example.org', port: 554 })).toBe('8.8.8.8');
  expect(await resolve({ host: 'near.example.org', port: 22 })).toBe('10.1.0.1');
  expect(await resolve({ host: '10.1.0.1', port: 22 })).toBe('10.1.0.1');
});

test.each([
  ['leads to a forbidden address', 'inside.example.org', 554],
  ['leads to a port that is not allowed', 'camera.example.org', 22],
  ['does not exist', 'absent.example.org', 554],
])('a name that %s is one failure like any other of the name service', async (_name, host, port) => {
  await expect(resolve({ host, port })).rejects.toMatchObject({ reason: 'connection_failed' });
});

test.each([
  ['address', '10.0.0.1', 554],
  ['port of an address', '8.8.8.8', 22],
])(
  'the %s that is refused as it stands is named, both from a text and as a pinned address',
  async (_name, host, port) => {
    await expect(resolve({ host, port })).rejects.toMatchObject({ reason: 'address_forbidden' });
    expect(() => parse(`http://${host}:${port}/piece.ts`)).toThrow('address_forbidden');
  },
);
