import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beginFolder, finishFolder } from './folder.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'vision-release-folder-'));
});
afterEach(() => rmSync(parent, { recursive: true }));

const release = { version: '0.4.0', isRelease: true };
const build = { version: '0.4.0-dev.0123456789ab', isRelease: false };

function make(of: typeof release, text: string): string {
  const folder = beginFolder(parent, of);
  writeFileSync(join(folder, 'SHA256SUMS'), text);
  return finishFolder(folder, parent, of);
}

test('a release that was made is not made again', () => {
  const folder = make(release, 'the first');
  expect(folder).toBe(join(parent, '0.4.0'));
  expect(() => make(release, 'another')).toThrow(
    /^0\.4\.0 was made before: it is in .* other digests, .* release the next version\.$/,
  );
  expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toBe('the first');
});

test('a release that was broken off is begun anew', () => {
  writeFileSync(join(beginFolder(parent, release), 'half'), '');
  expect(existsSync(join(parent, '0.4.0'))).toBe(false);
  const folder = make(release, 'whole');
  expect(existsSync(join(folder, 'half'))).toBe(false);
});

test('what is not a release may be made again', () => {
  make(build, 'the first');
  expect(readFileSync(join(make(build, 'another'), 'SHA256SUMS'), 'utf8')).toBe('another');
});
