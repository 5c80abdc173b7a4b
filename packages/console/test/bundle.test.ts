import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildConsole } from '../build/build.ts';

const FIRST_LOAD_LIMIT = 120 * 1024;
let folder: string;
let names: string[];
const read = (name: string) => readFile(join(folder, name));
const plain = () => names.filter((name) => !/\.(br|gz)$/.test(name));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vision-console-'));
  await buildConsole(folder);
  names = await readdir(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the first load is at most 120 KiB', async () => {
  const sizes = await Promise.all(
    names.filter((name) => name.endsWith('.gz')).map(async (name) => (await read(name)).length),
  );
  expect(sizes.length).toBeGreaterThanOrEqual(3);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(FIRST_LOAD_LIMIT);
});

test('every file lies there compressed, with the same content', async () => {
  for (const name of plain()) {
    const content = await read(name);
    expect(brotliDecompressSync(await read(`${name}.br`)).equals(content)).toBe(true);
    expect(gunzipSync(await read(`${name}.gz`)).equals(content)).toBe(true);
  }
});

test('the page has no code and no style of its own, and names files that are there', async () => {
  const page = String(await read('index.html'));
  expect(page).not.toMatch(/<style|<script[^>]*>[^<]|style=|\son\w+=/);
  const named = [...page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(
    plain()
      .filter((name) => name !== 'index.html')
      .toSorted(),
  );
});

test('a new build leaves nothing of the one before', async () => {
  await buildConsole(folder);
  expect((await readdir(folder)).toSorted()).toEqual(names.toSorted());
});

test('it evaluates no text and writes no markup', async () => {
  for (const name of plain()) {
    expect(String(await read(name))).not.toMatch(/\beval\(|new Function\(|localStorage|document\.write/);
  }
});
