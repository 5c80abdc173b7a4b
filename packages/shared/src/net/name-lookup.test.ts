import { readdirSync, readlinkSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { startDnsServer } from '../testing/dns-server.ts';
import type { DnsAnswer, DnsQuestion, TestDnsServer } from '../testing/dns-server.ts';
import { until } from '../testing/until.ts';
import { AddressError } from './address-error.ts';
import { createAddressPolicy } from './address-policy.ts';
import { createLookup } from './name-lookup.ts';

let dns: TestDnsServer | undefined;
afterEach(async () => {
  await dns?.close();
  dns = undefined;
});

async function lookupIn(zone: (question: DnsQuestion, timesAsked: number) => DnsAnswer) {
  dns = await startDnsServer(zone);
  return createLookup([dns.address]);
}

const ample = { deadlineMs: 30_000 };
const brief = { deadlineMs: 300 };

/** Number of sockets of this process: a lookup that is still running has one. */
const openSockets = () => readdirSync('/proc/self/fd').filter(isSocket).length;

function isSocket(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
  } catch {
    return false;
  }
}

test('both families are asked for, and all their addresses are found', async () => {
  const lookup = await lookupIn(() => ({ addresses: ['8.8.4.4', '8.8.8.8', '2606:4700:4700::1111'] }));
  expect(await lookup('camera.example.org', ample)).toEqual(['8.8.4.4', '8.8.8.8', '2606:4700:4700::1111']);
  expect(dns?.asked.map(({ type }) => type).sort()).toEqual(['A', 'AAAA']);
});

test.each<[string, DnsAnswer, string[]]>([
  ['a name of one family', { addresses: ['2606:4700:4700::1111'] }, ['2606:4700:4700::1111']],
  ['another name for it', { addresses: ['8.8.8.8'], cname: 'edge.example.net' }, ['8.8.8.8']],
  ['a slow server', { addresses: ['8.8.8.8'], afterMs: 200 }, ['8.8.8.8']],
])('%s is found', async (_name, answer, addresses) => {
  const lookup = await lookupIn(() => answer);
  expect(await lookup('camera.example.org', ample)).toEqual(addresses);
});

test('a packet that is lost is sent again', async () => {
  const lookup = await lookupIn((_question, times) => (times === 1 ? 'silent' : { addresses: ['8.8.8.8'] }));
  expect(await lookup('camera.example.org', ample)).toEqual(['8.8.8.8']);
});

test.each<[string, DnsAnswer]>([
  ['does not exist', 'nxdomain'],
  ['has no address', 'nothing'],
])('a name that %s is unknown', async (_name, answer) => {
  const lookup = await lookupIn(() => answer);
  await expect(lookup('camera.example.org', ample)).rejects.toMatchObject({ fault: 'name_unknown' });
});

test('name servers that fail or are not there differ from a name that is not', async () => {
  const lookup = await lookupIn(() => 'servfail');
  await expect(lookup('camera.example.org', ample)).rejects.toMatchObject({ fault: 'resolve_failed' });
  const address = dns?.address ?? '';
  await dns?.close();
  dns = undefined;
  await expect(createLookup([address])('camera.example.org', ample)).rejects.toMatchObject({ fault: 'resolve_failed' });
});

test.each<[string, DnsAnswer]>([
  ['silent', 'silent'],
  ['too slow', { addresses: ['8.8.8.8'], afterMs: 30_000 }],
])('a server that is %s is abandoned at the deadline, and the lookup leaves no socket open', async (_name, answer) => {
  const lookup = await lookupIn(() => answer);
  const before = openSockets();
  await expect(lookup('camera.example.org', brief)).rejects.toMatchObject({ fault: 'resolve_timeout' });
  expect(openSockets()).toBe(before);
});

test('a lookup whose caller is gone ends at once with the reason of the caller', async () => {
  const lookup = await lookupIn(() => 'silent');
  const gone = new AbortController();
  const before = openSockets();
  const asking = lookup('camera.example.org', { ...ample, signal: gone.signal });
  await until(() => dns?.asked.length === 2);
  gone.abort(new Error('the caller is gone'));
  await expect(asking).rejects.toThrow('the caller is gone');
  await expect(lookup('camera.example.org', { ...ample, signal: gone.signal })).rejects.toThrow('the caller is gone');
  expect(openSockets()).toBe(before);
  expect(dns?.asked).toHaveLength(2);
});

test('an answer that is missing for one family does not hide the other', async () => {
  const lookup = await lookupIn(({ type }) => (type === 'A' ? { addresses: ['8.8.8.8'] } : 'silent'));
  expect(await lookup('camera.example.org', brief)).toEqual(['8.8.8.8']);
});

test('many lookups in a silent zone do not delay others, and aborting one does not affect the others', async () => {
  const lookup = await lookupIn(({ name }) =>
    name.endsWith('silent.example') ? 'silent' : { addresses: ['8.8.8.8'] },
  );
  const gone = new AbortController();
  const before = openSockets();
  const silent = Array.from({ length: 32 }, (_, at) =>
    lookup(`camera-${at}.silent.example`, { ...ample, signal: gone.signal }).catch(() => 'given up'),
  );
  await until(() => (dns?.asked.length ?? 0) >= 64);
  const others = await Promise.all(Array.from({ length: 8 }, () => lookup('camera.example.org', ample)));
  expect(others.flat()).toEqual(Array.from({ length: 8 }, () => '8.8.8.8'));
  const first = new AbortController();
  const givenUp = lookup('first.silent.example', { ...ample, signal: first.signal }).catch(() => 'given up');
  first.abort();
  expect(await givenUp).toBe('given up');
  expect(openSockets()).toBeGreaterThanOrEqual(before + 32);
  gone.abort();
  await Promise.all(silent);
  expect(openSockets()).toBe(before);
});

test('a name is queried unchanged: no search list, no hosts file', async () => {
  const lookup = await lookupIn(() => 'nxdomain');
  await expect(lookup('localhost', ample)).rejects.toMatchObject({ fault: 'name_unknown' });
  await expect(lookup('camera', ample)).rejects.toMatchObject({ fault: 'name_unknown' });
  expect(new Set(dns?.asked.map(({ name }) => name))).toEqual(new Set(['localhost', 'camera']));
});

test('a huge or malformed answer ends only its own lookup', async () => {
  const many = Array.from({ length: 2_000 }, (_, at) => `8.8.${at >> 8}.${at & 255}`);
  const lookup = await lookupIn(({ name }) => (name === 'huge.example' ? { addresses: many } : 'garbage'));
  const isEnded = (name: string) =>
    lookup(name, brief).then(
      (addresses) => addresses.length <= many.length,
      (error: unknown) => error instanceof AddressError,
    );
  expect(await Promise.all([isEnded('huge.example'), isEnded('garbage.example')])).toEqual([true, true]);
});

test('the address policy checks every resolution of a name again', async () => {
  const lookup = await lookupIn((_question, times) => ({ addresses: [times === 1 ? '8.8.8.8' : '169.254.169.254'] }));
  const { resolvePinned } = createAddressPolicy([], { lookup });
  const camera = { host: 'camera.example.org', port: 554 };
  expect(await resolvePinned(camera, ample)).toBe('8.8.8.8');
  await expect(resolvePinned(camera, ample)).rejects.toMatchObject({ fault: 'address_forbidden' });
});

test('a server that is no IP address stops the start', () => {
  expect(() => createLookup(['dns.example.org'])).toThrow();
});
