import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../../deploy/local/settings.ts';
import { setVersion } from './set-version.ts';

const others = ['package.json', 'package-lock.json', 'charts/vision/Chart.yaml', 'clients/python/pyproject.toml'];
const files = [...others, ...globSync('{packages,services}/*/package.json', { cwd: root })];
let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'vision-set-version-'));
  for (const file of files) cpSync(join(root, file), join(copy, file), { recursive: true });
});
afterAll(() => rmSync(copy, { recursive: true }));

const read = (folder: string) => files.map((file) => readFileSync(join(folder, file), 'utf8'));

test('a version is written to each file that holds it, and the previous one can be restored', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  setVersion(copy, '7.8.9');
  expect(read(copy).filter((text) => !text.includes('7.8.9'))).toEqual([]);
  expect(readFileSync(join(copy, 'clients/python/pyproject.toml'), 'utf8')).toContain('version = "7.8.9"');
  // A version that a third-party package has too.
  setVersion(copy, '1.0.0');
  setVersion(copy, version);
  expect(read(copy)).toEqual(read(root));
});

test('what is no version is refused', () => {
  expect(() => setVersion(dirname(copy), 'v1')).toThrow('v1 is no version');
});
