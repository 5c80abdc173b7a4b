import type { ChildProcess } from 'node:child_process';

/** Signals a program and the tools of its sandbox: all of them share a process group. */
export function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone already.
  }
}
