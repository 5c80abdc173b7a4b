import { afterAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from '../deploy/local/settings.ts';

const home = mkdtempSync(join(tmpdir(), 'vision-home-'));
writeFileSync(join(home, '.npmrc'), 'a-setting-that-npm-does-not-know=1\n');
afterAll(() => rmSync(home, { recursive: true }));

/** Of a person with npm settings of their own, in whose folder npm has not run before. */
function run(...command: [string, ...string[]]) {
  const [program, ...args] = command;
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.endsWith('node_modules/.bin'));
  const env = { HOME: home, PATH: path.join(delimiter) };
  return spawnSync(program, args, { cwd: root, env, encoding: 'utf8' });
}

test('npx visionctl prints its answer and nothing of npm', () => {
  const { stdout, stderr } = run('npx', 'visionctl', '--version');
  expect(stdout).toMatch(/^visionctl \d+\.\d+\.\d+(-dev)?\n$/);
  expect(stderr).toBe('');
});

test('errors of npm are printed', () => {
  const { status, stderr } = run('npm', 'run', 'no-such-script');
  expect(status).not.toBe(0);
  expect(stderr).toContain('Missing script: "no-such-script"');
});
