import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { hostileBuild, requireRemoved, withoutBounds } from './hostile-build.ts';

test('takes the bounds of a reader out, and nothing else', () => {
  const lines = [
    'const MAX_UNITS = 4096;',
    'export const MAX_SETS = 64;',
    'const BYTES_PER_S = 8 * MIB;',
    'export const MAX_FACT_BYTES = 1024;',
    'const HEADER_BYTES = 12;',
    '  if (lengths > MAX_UNITS) throw new Error();',
  ];
  const { source, removed } = withoutBounds(lines.join('\n'));
  expect(removed).toEqual(['MAX_UNITS', 'MAX_SETS', 'BYTES_PER_S']);
  expect(source.split('\n')).toEqual([
    'const MAX_UNITS = 2 ** 30;',
    'export const MAX_SETS = 2 ** 30;',
    'const BYTES_PER_S = 2 ** 30;',
    ...lines.slice(3),
  ]);
});

test('refuses a build in which a bound that matters is still in force', () => {
  const message = 'still in force: BYTES_PER_MS of streams/budget.ts, MAX_SLOWED_MS of streams/budget.ts';
  expect(() => requireRemoved({ 'streams/budget.ts': ['PARTS_PER_MS'] })).toThrow(message);
});

test('readers of the build use its copy of the stream code, in which the budget is out', () => {
  const build = hostileBuild();
  try {
    const src = join(build.folder, 'src');
    const budget = readFileSync(join(src, 'streams/budget.ts'), 'utf8');
    expect(budget).toContain('const PARTS_PER_MS = 2 ** 30;');
    expect(readFileSync(join(src, 'inputs/reader-process.ts'), 'utf8')).toContain("from '../streams/budget.ts'");
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    expect(files.filter((name) => readFileSync(join(src, name), 'utf8').includes('@vision/streams'))).toEqual([]);
  } finally {
    build.delete();
  }
});
