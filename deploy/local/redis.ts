import { mkdirSync } from 'node:fs';
import { ensureRunning } from './background.ts';
import { findProgram } from './host-programs.ts';
import { dataDir, portOf } from './settings.ts';
import type { Settings } from './settings.ts';
import { answersLine } from './wait.ts';

export function localRedisUrl(settings: Settings): string {
  return `redis://127.0.0.1:${portOf(settings, 'redis')}`;
}

/** Redis holds only counters of seconds, so nothing of it is written to disk. */
export async function ensureRedis(settings: Settings): Promise<void> {
  const command = findProgram('redis');
  if (command === undefined) throw new Error('Redis is not installed.');
  const port = portOf(settings, 'redis');
  const dir = dataDir(settings, 'redis');
  mkdirSync(dir, { recursive: true });
  await ensureRunning(settings, {
    name: 'redis',
    command,
    args: ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--save', '', '--appendonly', 'no'],
    port,
    ready: () => answersLine(port, 'PING\r\n', '+PONG'),
  });
}
