import { afterEach, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { usableCores } from './usable-cores.ts';

let root = '';
afterEach(() => rmSync(root, { recursive: true, force: true }));

function coresWith(membership: string, files: Record<string, string>): number {
  root = mkdtempSync(join(tmpdir(), 'vision-cores-'));
  const path = join(root, 'membership');
  writeFileSync(path, membership);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return usableCores({ cores: 16, membership: path, root });
}

test('without a limit every core is used', () => {
  expect(coresWith('0::/\n', { 'cpu.max': 'max 100000\n' })).toBe(16);
  expect(coresWith('', {})).toBe(16);
  expect(coresWith('2:cpu:/\n', { 'cpu/cpu.cfs_quota_us': '-1\n', 'cpu/cpu.cfs_period_us': '100000\n' })).toBe(16);
});

test('a limit of version 2 counts, of the own group and of one around it', () => {
  expect(coresWith('0::/\n', { 'cpu.max': '250000 100000\n' })).toBe(2);
  expect(coresWith('0::/pod/box\n', { 'pod/box/cpu.max': 'max 100000\n', 'pod/cpu.max': '400000 100000\n' })).toBe(4);
});

test('a limit of version 1 counts, also where the path leads out of the container', () => {
  const files = { 'cpu,cpuacct/cpu.cfs_quota_us': '300000\n', 'cpu,cpuacct/cpu.cfs_period_us': '100000\n' };
  expect(coresWith('4:cpu,cpuacct:/kubepods/pod/box\n', files)).toBe(3);
});

test('less than one core is one thread', () => {
  expect(coresWith('0::/\n', { 'cpu.max': '50000 100000\n' })).toBe(1);
});
