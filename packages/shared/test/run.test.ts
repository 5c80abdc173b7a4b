import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

test('a consumer that cannot go on ends its process with exit code 1, after an orderly stop', async () => {
  const { exitCode, lines } = await runFixture();
  expect(exitCode).toBe(1);
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    'info started',
    'fatal unrecoverable error; stopping',
    'info consumers stopped',
    'info stopped',
  ]);
});

test('a misspelt setting is reported once when a process starts, without its value', async () => {
  const { lines, output } = await runFixture({ LOGLEVEL: 'misspelt-value' });
  expect(lines[0]).toMatchObject({
    level: 'warn',
    msg: 'unknown setting in the environment; it has no effect',
    variable: 'LOGLEVEL',
    meant: 'LOG_LEVEL',
  });
  expect(output).not.toContain('misspelt-value');
});

test('a migration reports a misspelt setting before it fails for want of it', async () => {
  const { exitCode, lines } = await runFixture({ DATABSE_URL: 'postgres://a:b@127.0.0.1/c' }, ['migrate']);
  expect(exitCode).toBe(1);
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'warn', variable: 'DATABSE_URL', meant: 'DATABASE_URL' }),
  );
  expect(lines.at(-1)?.msg).toContain('DATABASE_URL: is missing');
});

test('a migration is silent about variables that only begin as settings do', async () => {
  const { lines } = await runFixture({ DATABASE_OF_SOMEBODY_ELSE: 'x' }, ['migrate']);
  expect(lines.map(({ level }) => level)).toEqual(['fatal']);
});

async function runFixture(variables: Record<string, string> = {}, args: string[] = []) {
  const fixture = fileURLToPath(new URL('./fixtures/fatal-service.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@vision/source', fixture, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '--no-warnings', ...variables },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const exitCode = await new Promise((resolve) => child.once('close', resolve));
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; msg: string; time: string })
    // A fatal line is written at once, past lines that still wait to be written.
    .toSorted((one, other) => Date.parse(one.time) - Date.parse(other.time));
  return { exitCode, lines, output };
}
