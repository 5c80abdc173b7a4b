import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

test('a consumer that cannot go on ends its process with exit code 1, after an orderly stop', async () => {
  const fixture = fileURLToPath(new URL('./fixtures/fatal-service.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@vision/source', fixture], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '--no-warnings' },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(1);
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; msg: string; time: string })
    // A fatal line is written at once, past lines that still wait to be written.
    .toSorted((one, other) => Date.parse(one.time) - Date.parse(other.time));
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    'info started',
    'fatal cannot go on',
    'info consumers stopped',
    'info stopped',
  ]);
});
