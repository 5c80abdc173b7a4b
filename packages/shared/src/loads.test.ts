import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

const packages = join(import.meta.dirname, '../..');

/** Node.js itself is stricter about names of CommonJS packages than the test runner. */
test.each(['contracts', 'shared', 'kafka', 'objects', 'creation', 'streams'])(
  'Node.js loads every module of %s',
  (name) => {
    const folder = join(packages, name, 'src');
    const modules = globSync('**/*.ts', { cwd: folder }).filter((file) => !/\.test\.ts$|^testing\//.test(file));
    const script = modules.map((file) => `await import(${JSON.stringify(join(folder, file))});`).join('\n');
    const flags = ['--conditions=@vision/source', '--input-type=module', '--eval', script];
    const { status, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8', timeout: 60_000 });
    expect(status === 0 ? '' : stderr).toBe('');
  },
  60_000,
);
