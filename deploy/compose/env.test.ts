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
