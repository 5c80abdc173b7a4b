import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from './settings.ts';
import { becomesTrue } from './wait.ts';

/** Lets one command at a time start or stop parts of a copy. Ignores a lock whose holder no longer runs. */
export async function withLock<T>(settings: Settings, work: () => Promise<T>): Promise<T> {
  const file = join(settings.localDir, 'lock');
  mkdirSync(settings.localDir, { recursive: true });
  const got = await becomesTrue(async () => tryLock(file), { timeoutMs: 300_000, everyMs: 200 });
  if (!got) throw new Error(`Another command holds ${file}.`);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function tryLock(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isAlive(Number(readFileSync(file, 'utf8')))) rmSync(file, { force: true });
    return false;
  }
}

/** Whether a process exists; a negative number names a process group. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
