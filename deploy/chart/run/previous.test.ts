import { afterAll, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingHistory } from '../../../scripts/release/repository.ts';
import { root } from '../../local/settings.ts';
import { unpackPrevious } from './previous.ts';

const dir = mkdtempSync(join(tmpdir(), 'vision-previous-'));
afterAll(() => rmSync(dir, { recursive: true }));

const withHistory = missingHistory(root) === undefined ? test : test.skip;

withHistory('the Dockerfile for the images of the last release copies only what that release has', () => {
  const { folder } = unpackPrevious(dir);
  const copies = readFileSync(join(folder, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm);
  const sources = [...copies].flatMap(([, paths = '']) => paths.split(' '));
  expect(sources).toContain('services/gateway/package.json');
  expect(sources.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
});
