import { readFileSync, rmSync } from 'node:fs';

/**
 * What a step between two durable effects does in tests. `CRASH_AT=<name>` (or `<name>:<n>` for the n-th passage) kills
 * the process there. `STEP_TRAP_FILE=<path>` does so at any time: once the file holds `<name> <signal>`, the process
 * that gets to the step removes it and sends itself the signal, SIGSTOP for example.
 */
export function stepTraps(env: NodeJS.ProcessEnv): (name: string) => void {
  const { CRASH_AT: crashAt, STEP_TRAP_FILE: trapFile } = env;
  const [wanted, passage = '1'] = crashAt?.split(':') ?? [];
  let passages = 0;
  return (name) => {
    if (trapFile !== undefined) springTrap(trapFile, name);
    if (wanted !== name) return;
    passages += 1;
    if (passages === Number(passage)) process.kill(process.pid, 'SIGKILL');
  };
}

function springTrap(file: string, name: string): void {
  const [wanted, signal] = readTrap(file);
  if (wanted !== name || signal === undefined) return;
  rmSync(file, { force: true });
  process.kill(process.pid, signal);
}

function readTrap(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split(' ');
  } catch {
    return [];
  }
}
