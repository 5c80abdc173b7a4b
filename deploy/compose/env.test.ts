import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvFile } from '../local/secrets.ts';
import { writeComposeEnv } from './env.ts';

const folder = mkdtempSync(join(tmpdir(), 'vision-env-'));
const file = join(folder, '.env');
beforeEach(() => rmSync(file, { force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

test('a new file has random secrets that only its owner can read', () => {
  const made = writeComposeEnv(file);
  const values = readEnvFile(file);
  expect(made.length).toBeGreaterThan(15);
  expect(made.filter((name) => !values[name])).toEqual([]);
  expect(new Set(made.map((name) => values[name])).size).toBe(made.length);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('what is set stays, in place and with its comments; only what is empty is filled in', () => {
  writeFileSync(file, '# mine\nREDIS_PASSWORD=of-my-own\nLOG_LEVEL=debug\nADMIN_TOKEN=\n', { mode: 0o644 });
  const made = writeComposeEnv(file);
  expect(made).not.toContain('REDIS_PASSWORD');
  expect(readFileSync(file, 'utf8')).toMatch(/^# mine\nREDIS_PASSWORD=of-my-own\nLOG_LEVEL=debug\nADMIN_TOKEN=.{20}/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const before = readFileSync(file, 'utf8');
  expect(writeComposeEnv(file)).toEqual([]);
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('public keys fit to private keys that were there', () => {
  writeComposeEnv(file);
  const { SERVICE_PUBLIC_KEYS: keys } = readEnvFile(file);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^SERVICE_PUBLIC_KEYS=.*\n/m, ''));
  writeComposeEnv(file);
  expect(readEnvFile(file)['SERVICE_PUBLIC_KEYS']).toBe(keys);
});

test('the public key of a service that had no key yet is listed beside those that are there', () => {
  writeComposeEnv(file);
  const { SERVICE_PUBLIC_KEYS: all = '' } = readEnvFile(file);
  const known = all.split(',').filter((key) => !key.startsWith('results:'));
  const text = readFileSync(file, 'utf8')
    .replace(/^RESULTS_SERVICE_KEY=.*\n/m, '')
    .replace(/^SERVICE_PUBLIC_KEYS=.*$/m, `SERVICE_PUBLIC_KEYS=${known.join(',')}`);
  writeFileSync(file, text);
  expect(writeComposeEnv(file)).toEqual(['RESULTS_SERVICE_KEY', 'SERVICE_PUBLIC_KEYS']);
  const listed = readEnvFile(file)['SERVICE_PUBLIC_KEYS']?.split(',') ?? [];
  expect(listed.slice(0, -1)).toEqual(known);
  expect(listed.at(-1)).toMatch(/^results:/);
  expect(writeComposeEnv(file)).toEqual([]);
});

test('the commit is that of the last call, and no secret changes with it', () => {
  writeComposeEnv(file, 'a'.repeat(40));
  const before = readFileSync(file, 'utf8');
  expect(before).toMatch(/^REVISION=a{40}$/m);
  expect(writeComposeEnv(file, `${'b'.repeat(40)}-modified`)).toEqual(['REVISION']);
  expect(readFileSync(file, 'utf8')).toBe(before.replace('a'.repeat(40), `${'b'.repeat(40)}-modified`));
  writeFileSync(file, before.replace(/^REVISION=.*\n/m, ''));
  expect(writeComposeEnv(file, 'c'.repeat(40))).toEqual(['REVISION']);
});
