import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const client = join(root, 'packages/client');
const bin = (name: string) => join(root, 'node_modules/.bin', name);
const BUNDLE_LIMIT = 12 * 1024;
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'vision-client-'));
  await rm(join(client, 'dist'), { recursive: true, force: true });
  await run(bin('tsc'), ['-p', client], { cwd: root });
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

test('the package can be published', async () => {
  const { stdout } = await run(bin('publint'), ['--strict', client], { cwd: root });
  expect(stdout).toContain('All good!');
});

test('its types resolve as its code does, from modules and for bundlers', async () => {
  const checked = await run(bin('attw'), ['--pack', client, '--profile', 'esm-only', '--format', 'json'], {
    cwd: scratch,
  });
  const { problems } = JSON.parse(checked.stdout) as { problems?: Record<string, unknown[]> };
  expect(Object.keys(problems ?? {}).filter((kind) => !['NoResolution', 'CJSResolvesToESM'].includes(kind))).toEqual(
    [],
  );
});

test('a browser loads at most 12 KiB of it', async () => {
  const out = join(scratch, 'bundle.js');
  const flags = ['--bundle', '--minify', '--format=esm', '--platform=browser', `--outfile=${out}`];
  await run(bin('esbuild'), [join(client, 'dist/client.js'), ...flags], { cwd: root });
  expect(gzipSync(await readFile(out), { level: 9 }).length).toBeLessThanOrEqual(BUNDLE_LIMIT);
});

test('it imports nothing of Node.js and nothing else of this repository', async () => {
  const listed = await run('grep', ['-rhoE', `from '[^.][^']*'`, join(client, 'dist'), '--include=*.js'], {
    cwd: root,
  });
  const imported = new Set(listed.stdout.trim().split('\n'));
  expect([...imported].toSorted()).toEqual([
    "from 'eventsource-parser'",
    "from 'openapi-fetch'",
    "from 'standardwebhooks'",
  ]);
});
