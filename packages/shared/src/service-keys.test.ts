import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { loadConfig } from './config.ts';
import { createServiceKey, publicKeyOf, serviceKeyConfig } from './service-keys.ts';

const load = (SERVICE_KEY: string, SERVICE_PUBLIC_KEYS: string) =>
  loadConfig(z.object(serviceKeyConfig), { SERVICE_KEY, SERVICE_PUBLIC_KEYS });
const tasks = createServiceKey('tasks');
const images = createServiceKey('images');

test('a new key pair is what the settings take, and the private half leads to the public one', () => {
  const { SERVICE_KEY, SERVICE_PUBLIC_KEYS } = load(tasks.privateKey, `${tasks.publicKey}, ${images.publicKey}`);
  expect(SERVICE_PUBLIC_KEYS.map(({ service }) => service)).toEqual(['tasks', 'images']);
  expect(SERVICE_PUBLIC_KEYS[0]?.kid).toBe(SERVICE_KEY.kid);
  expect(publicKeyOf('tasks', tasks.privateKey)).toBe(tasks.publicKey);
});

const lastBitsChanged = (text: string) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A').padEnd(1);
const x = tasks.publicKey.slice('tasks:'.length);

test.each([
  ['of a service that calls nobody', `quota:${x}`],
  ['without a service', x],
  ['that is listed twice', `tasks:${x},tasks:${x}`],
  ['under two names', `tasks:${x},images:${x}`],
  ['that is cut', `tasks:${x.slice(1)}`],
  ['with something behind it', `tasks:${x}:1`],
  ['in another alphabet', `tasks:${'+'.repeat(43)}`],
  ['and an empty entry', `tasks:${x},`],
])('a public key %s is refused at the start', (_what, list) => {
  expect(() => load(tasks.privateKey, list)).toThrow('SERVICE_PUBLIC_KEYS: <service>:<key>, comma separated');
});

test.each([tasks.privateKey.slice(1), `${tasks.privateKey}=`, 'x', lastBitsChanged(tasks.privateKey) + 'A'])(
  'a private key that is none is refused without being shown',
  (text) => {
    expect(() => load(text, tasks.publicKey)).toThrow('SERVICE_KEY: an Ed25519 private key: 32 bytes in base64url');
    expect(() => load(text, tasks.publicKey)).not.toThrow(text);
  },
);

test('a configuration that is printed shows no private key', () => {
  const config = load(tasks.privateKey, tasks.publicKey);
  expect(JSON.stringify(config)).not.toContain(tasks.privateKey);
});
