import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runningPid, startedPrograms } from './background.ts';
import { addressesOf, type Infrastructure } from './infrastructure.ts';
import { offsets, type Settings } from './settings.ts';
import { isPortFree } from './wait.ts';

/**
 * The second copy, on which tests run: inside this copy's folder and on a block of ports of its own. While it runs it
 * keeps its block; otherwise it takes the first one that is free, so that several checkouts can be tested at once.
 */
export async function testSettings(settings: Settings, env: NodeJS.ProcessEnv): Promise<Settings> {
  const localDir = join(settings.localDir, 'test');
  const file = join(localDir, 'port-base');
  const copy = (portBase: number): Settings => ({ ...settings, localDir, portBase, traces: false });
  const fixed = Number(env['VISION_TEST_PORT_BASE'] || 0);
  if (fixed > 0) return copy(fixed);
  const kept = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  const runs = startedPrograms(copy(kept)).some((name) => runningPid(copy(kept), name) !== undefined);
  const portBase = runs ? kept : await firstFreeBlock(kept || 18_080);
  mkdirSync(localDir, { recursive: true });
  writeFileSync(file, String(portBase));
  return copy(portBase);
}

async function firstFreeBlock(preferred: number): Promise<number> {
  const candidates = [preferred, ...Array.from({ length: 50 }, (_, index) => 18_080 + index * 200)];
  for (const base of candidates) {
    const free = await Promise.all(Object.values(offsets).map((offset) => isPortFree(base + offset)));
    if (free.every(Boolean)) return base;
  }
  throw new Error('No free block of ports for the tests; set VISION_TEST_PORT_BASE.');
}

/** What integration tests read; named apart from the addresses of a running system. */
export function testVariables(infrastructure: Infrastructure): Record<string, string> {
  return Object.fromEntries(Object.entries(addressesOf(infrastructure)).map(([name, value]) => [`TEST_${name}`, value]));
}
