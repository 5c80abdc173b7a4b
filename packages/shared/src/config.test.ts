import { expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { loadConfig, millis, retiredSettings } from './config.ts';
import { hasten } from './testing/hasten.ts';

const schema = z.object({
  WAIT_MS: millis(10).describe('A time'),
  API_TOKEN: z.string().min(4).describe('A secret'),
});

function inFile(text: string, work: (path: string) => void): void {
  const dir = mkdtempSync(join(tmpdir(), 'vision-config-'));
  const path = join(dir, 'secret');
  writeFileSync(path, text);
  try {
    work(path);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

test('an empty variable does not hide the file beside it', () => {
  inFile('from-file\n', (path) => {
    expect(loadConfig(schema, { API_TOKEN: '', API_TOKEN_FILE: path }).API_TOKEN).toBe('from-file');
    expect(loadConfig(schema, { API_TOKEN: 'direct', API_TOKEN_FILE: path }).API_TOKEN).toBe('direct');
  });
});

test('a file gives its value without the line break at its end and with every blank of it', () => {
  inFile('  pass word \r\n', (path) => {
    expect(loadConfig(schema, { API_TOKEN_FILE: path }).API_TOKEN).toBe('  pass word ');
  });
});

test('a file that cannot be read is named, and not taken for a missing value', () => {
  expect(() => loadConfig(schema, { API_TOKEN_FILE: '/nowhere' })).toThrow(
    'The environment is not usable:\n  API_TOKEN_FILE: /nowhere cannot be read (ENOENT)',
  );
});

test('every problem is reported at once, with the value that is wrong', () => {
  expect(() => loadConfig(schema, { WAIT_MS: 'soon' })).toThrow(
    /WAIT_MS: .*, not "soon" \(A time\)\n {2}API_TOKEN: is missing \(A secret\)/,
  );
});

test('no secret is shown', () => {
  expect(() => loadConfig(schema, { API_TOKEN: 'abc' })).toThrow(/^(?!.*abc).*API_TOKEN: /s);
});

const constants = { LEASE_MS: 9_000, CLOCK_OFFSET: '0 seconds' };

test('constants that the environment tries to set are named, also those in a file', () => {
  const env = { LEASE_MS: '10', CLOCK_OFFSET: '', CLOCK_OFFSET_FILE: '/run/offset', WAIT_MS: '1' };
  expect(retiredSettings(constants, env)).toEqual(['LEASE_MS', 'CLOCK_OFFSET']);
  expect(retiredSettings(constants, { WAIT_MS: '1' })).toEqual([]);
});

test('a suite gives constants by their names, with their types, and nothing else', () => {
  const config = { ...constants, WAIT_MS: 10 };
  expect(hasten(config, constants, { LEASE_MS: '10', WAIT_MS: '1' })).toEqual({ ...config, LEASE_MS: 10 });
  expect(hasten(config, constants, { CLOCK_OFFSET: '91 days' })).toEqual({ ...config, CLOCK_OFFSET: '91 days' });
});
