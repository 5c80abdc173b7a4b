import { afterEach, expect, jest, test } from '@jest/globals';
import { defaultLimits } from '@vision/contracts/limits';
import { createServiceKey, serviceKeyConfig } from '../service-keys.ts';
import { testPublicKeys, testServiceKey } from '../testing/service-keys.ts';
import { createTokenSigner, createTokenVerifier } from './service-token.ts';

const publicKeys = serviceKeyConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys);
const keyOf = (text: string) => serviceKeyConfig.SERVICE_KEY.parse(text);
const newSigner = () => createTokenSigner({ issuer: 'gateway', key: keyOf(testServiceKey('gateway')), publicKeys });

afterEach(() => {
  jest.useRealTimers();
});
/** Fakes only the clock. */
const stopClock = () =>
  jest.useFakeTimers({ now: Date.now(), doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });

test('who calls, for whom and what it vouches for arrive as they were signed', async () => {
  const behalf = {
    subject: 'acme',
    limits: defaultLimits,
    scopes: ['read' as const],
    maintenance: { reason: 'new disks' },
  };
  const token = await newSigner().sign('tasks', behalf);
  expect(await createTokenVerifier('tasks', publicKeys).verify(token)).toEqual({ issuer: 'gateway', ...behalf });
});

test('the same claims are signed once, others anew', async () => {
  const signer = newSigner();
  const token = await signer.sign('tasks', { subject: 'acme', limits: defaultLimits });
  expect(await signer.sign('tasks', { subject: 'acme', limits: { ...defaultLimits } })).toBe(token);
  const others = await Promise.all([
    signer.sign('results', { subject: 'acme', limits: defaultLimits }),
    signer.sign('tasks', { subject: 'other', limits: defaultLimits }),
    signer.sign('tasks', { subject: 'acme', limits: { ...defaultLimits, burst: 1 } }),
    signer.sign('tasks', { subject: 'acme', limits: defaultLimits, maintenance: { reason: '' } }),
    signer.sign('tasks', { subject: 'acme', limits: defaultLimits, scopes: ['read'] }),
    signer.sign('tasks', { subject: 'acme', limits: defaultLimits, scopes: [] }),
  ]);
  expect(new Set([token, ...others]).size).toBe(7);
});

test('a token is renewed after half of its lifetime, which is at most five minutes', async () => {
  stopClock();
  const signer = newSigner();
  const verifier = createTokenVerifier('tasks', publicKeys);
  const token = await signer.sign('tasks', { subject: 'acme' });
  jest.setSystemTime(Date.now() + 149_000);
  expect(await signer.sign('tasks', { subject: 'acme' })).toBe(token);
  jest.setSystemTime(Date.now() + 2_000);
  expect(await signer.sign('tasks', { subject: 'acme' })).not.toBe(token);
  await expect(verifier.verify(token)).resolves.toMatchObject({ subject: 'acme' });
  // A verifier that remembers the token forgets it in time; a minute includes what clocks may differ by.
  jest.setSystemTime(Date.now() + 209_000);
  await expect(verifier.verify(token)).rejects.toMatchObject({ fault: 'expired' });
});

test('a token is good whose second ends while it is made', async () => {
  const RealDate = Date;
  let nowMs = RealDate.now();
  // Each reading of the clock returns another second, as two readings around a pause may.
  const hurried = class extends RealDate {
    constructor() {
      super((nowMs += 1_000));
    }
    static override now = () => (nowMs += 1_000);
  };
  globalThis.Date = hurried as DateConstructor;
  const token = await newSigner()
    .sign('tasks', { subject: 'acme' })
    .finally(() => (globalThis.Date = RealDate));
  await expect(createTokenVerifier('tasks', publicKeys).verify(token)).resolves.toMatchObject({ subject: 'acme' });
});

test.each([3_600_000, -3_600_000])(
  'nothing is left of a clock that was %i ms off once it is right again',
  async (offMs) => {
    stopClock();
    const signer = newSigner();
    const right = Date.now();
    const before = await signer.sign('tasks', { subject: 'acme' });
    jest.setSystemTime(right + offMs);
    await signer.sign('tasks', { subject: 'acme' });
    const stepped = createTokenVerifier('tasks', publicKeys);
    await expect(stepped.verify(before)).rejects.toMatchObject({ fault: offMs > 0 ? 'expired' : 'not_yet' });
    jest.setSystemTime(right + 1_000);
    const after = await signer.sign('tasks', { subject: 'acme' });
    await expect(createTokenVerifier('tasks', publicKeys).verify(after)).resolves.toMatchObject({ subject: 'acme' });
  },
);

test.each([-25_000, 25_000])('a clock that is %i ms off refuses nothing', async (offMs) => {
  stopClock();
  const token = await newSigner().sign('tasks', { subject: 'acme' });
  jest.setSystemTime(Date.now() + offMs);
  await expect(createTokenVerifier('tasks', publicKeys).verify(token)).resolves.toMatchObject({ subject: 'acme' });
});

test('old and new key of a service count side by side, so a rotation refuses no call at any step', async () => {
  const [old, fresh] = [createServiceKey('gateway'), createServiceKey('gateway')];
  const others = testPublicKeys.split(',').filter((entry) => !entry.startsWith('gateway:'));
  const listOf = (...own: { publicKey: string }[]) =>
    serviceKeyConfig.SERVICE_PUBLIC_KEYS.parse([...others, ...own.map(({ publicKey }) => publicKey)].join(','));
  const tokenBy = ({ privateKey }: { privateKey: string }, list: typeof publicKeys) =>
    createTokenSigner({ issuer: 'gateway', key: keyOf(privateKey), publicKeys: list }).sign('tasks', { subject: 'a' });
  const [before, during, after] = [listOf(old), listOf(old, fresh), listOf(fresh)];
  const passes = async (token: string, list: typeof publicKeys) =>
    expect(await createTokenVerifier('tasks', list).verify(token)).toMatchObject({ issuer: 'gateway' });
  // 1. Replica by replica, the services learn the new key; the gateway signs with the old one.
  const signedByOld = await tokenBy(old, before);
  await passes(signedByOld, before);
  await passes(signedByOld, during);
  // 2. Replica by replica, the gateway signs with the new key.
  const signedByNew = await tokenBy(fresh, during);
  await passes(signedByNew, during);
  // 3. No replica signs with the old key any more, and it is removed from the list.
  await passes(signedByNew, after);
  await expect(createTokenVerifier('tasks', after).verify(signedByOld)).rejects.toMatchObject({ fault: 'key_unknown' });
});

test('a service whose key the others do not know does not start', () => {
  const { privateKey } = createServiceKey('gateway');
  const start = () => createTokenSigner({ issuer: 'gateway', key: keyOf(privateKey), publicKeys });
  expect(start).toThrow('SERVICE_PUBLIC_KEYS has no key for SERVICE_KEY of gateway');
  const borrowed = () => createTokenSigner({ issuer: 'gateway', key: keyOf(testServiceKey('tasks')), publicKeys });
  expect(borrowed).toThrow('of gateway');
});
