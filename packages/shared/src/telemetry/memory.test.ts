import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { totalmem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readMemory } from './memory.ts';

const folder = mkdtempSync(join(tmpdir(), 'vision-cgroup-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(max: string): void {
  writeFileSync(join(folder, 'memory.max'), `${max}\n`);
  writeFileSync(join(folder, 'memory.current'), '700\n');
  writeFileSync(join(folder, 'memory.stat'), 'anon 400\ninactive_file 200\nactive_file 100\n');
}

test('in a container it is what the container takes, without the cache that can be dropped', () => {
  write('1000');
  expect(readMemory(folder)).toEqual({ used: 500, limit: 1000 });
});

test('without a limit, or without a container, it is this process and the machine', () => {
  write('max');
  for (const place of [folder, '/nowhere']) {
    const { used, limit } = readMemory(place);
    expect(limit).toBe(totalmem());
    expect(used).toBeGreaterThan(10_000_000);
  }
});
