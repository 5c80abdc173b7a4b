import { expect, test } from '@jest/globals';
import { withoutBounds } from './hostile-build.ts';

test('bounds of a reader are taken out, and nothing else', () => {
  const lines = [
    'const MAX_UNITS = 4096;',
    'export const MAX_SETS = 64;',
    'const BYTES_PER_S = 8 * MIB;',
    'export const MAX_FACT_BYTES = 1024;',
    'const HEADER_BYTES = 12;',
    '  if (lengths > MAX_UNITS) throw new Error();',
  ];
  const { source, removed } = withoutBounds(lines.join('\n'));
  expect(removed).toBe(3);
  expect(source.split('\n')).toEqual([
    'const MAX_UNITS = 2 ** 30;',
    'export const MAX_SETS = 2 ** 30;',
    'const BYTES_PER_S = 2 ** 30;',
    ...lines.slice(3),
  ]);
});
