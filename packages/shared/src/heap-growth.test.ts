import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { HEAP_GROWTH_FLAG } from './heap-growth.ts';

test('Node.js knows the flag: set at run time, one that it does not know would be passed over', () => {
  const { status, stderr } = spawnSync(process.execPath, [HEAP_GROWTH_FLAG, '--eval', ''], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
