import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { digestKey, formatKey, keyIdOf, keyMatches } from './api-key.ts';
import { parsePeppers } from './peppers.ts';

const pepper = (seed: string) => createHash('sha256').update(seed).digest('base64');
const one = parsePeppers(`1:${pepper('a')}`);
const both = parsePeppers(`2:${pepper('b')}, 1:${pepper('a')}`);
const { key, keyId } = formatKey(Buffer.alloc(8, 0xab), Buffer.alloc(32, 0xff));

test('a key carries its public id and a secret of 256 bits', () => {
  expect(key).toBe('vk_abababababababab_' + Buffer.alloc(32, 0xff).toString('base64url'));
  expect(keyIdOf(key)).toBe(keyId);
});

test('text that is not exactly a key has no id', () => {
  for (const text of ['', 'vk_', key.slice(1), `${key}x`, key.slice(0, -1), key.toUpperCase(), ` ${key}`, `${key}\n`]) {
    expect(keyIdOf(text)).toBeUndefined();
  }
});

test('only the very key matches its digest', () => {
  const stored = digestKey(key, one);
  expect(keyMatches(key, stored, one)).toBe(true);
  expect(keyMatches(formatKey(Buffer.alloc(8, 0xab), Buffer.alloc(32, 0xfe)).key, stored, one)).toBe(false);
  expect(keyMatches(key, undefined, one)).toBe(false);
  expect(keyMatches(key, { digest: Buffer.alloc(3), pepperVersion: 1 }, one)).toBe(false);
});

test('a digest made with an older pepper still matches until that pepper is retired', () => {
  const old = digestKey(key, one);
  expect(keyMatches(key, old, both)).toBe(true);
  expect(digestKey(key, both).pepperVersion).toBe(2);
  expect(keyMatches(key, old, parsePeppers(`2:${pepper('b')}`))).toBe(false);
});

test('peppers that are too short, unnamed or doubled are refused without showing them', () => {
  for (const text of ['', 'secret', '1:c2hvcnQ=', `1:${pepper('a')},1:${pepper('b')}`, `x:${pepper('a')}`]) {
    expect(() => parsePeppers(text)).toThrow(/API_KEY_PEPPERS/);
    expect(() => parsePeppers(text)).not.toThrow(/c2hvcnQ/);
  }
});
