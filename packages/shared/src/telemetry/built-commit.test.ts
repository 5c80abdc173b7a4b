import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtCommit } from './built-commit.ts';

const folder = mkdtempSync(join(tmpdir(), 'vision-commit-'));
const file = join(folder, 'commit.txt');
afterAll(() => rmSync(folder, { recursive: true }));

const HASH = '0123456789abcdef0123456789abcdef01234567';

test.each([
  [HASH, '0123456789ab'],
  [`${HASH}-modified`, '0123456789ab-modified'],
  ['unknown', 'unknown'],
  ['none', 'none'],
])('a build of %s says %s', (revision, shown) => {
  writeFileSync(file, `${revision}\n`);
  expect(builtCommit(pathToFileURL(file))).toBe(shown);
});

test('a checkout says none', () => {
  expect(builtCommit(pathToFileURL(join(folder, 'no file')))).toBe('none');
});
