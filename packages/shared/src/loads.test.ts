import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

test('every module loads in Node.js itself, which is stricter about names of CommonJS packages than the test runner', () => {
  const modules = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
    (file) => !/\.test\.ts$|^testing\//.test(file),
  );
  const script = modules.map((file) => `await import(${JSON.stringify(join(import.meta.dirname, file))});`).join('\n');
  const flags = ['--conditions=@vision/source', '--input-type=module', '--eval', script];
  const { status, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8', timeout: 60_000 });
  expect(status === 0 ? '' : stderr).toBe('');
}, 60_000);
