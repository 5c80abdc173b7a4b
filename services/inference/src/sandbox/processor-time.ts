import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of the clock by which Linux tells processor time. */
const TICK_MS = 10;

/**
 * Processor time in milliseconds by process group, as /proc tells it; what was started behind a wall is one group.
 * Empty where there is no /proc. It reads a line for each process, so ask every few seconds at most.
 */
export function processorTimeByGroup(): Map<number, number> {
  const times = new Map<number, number>();
  for (const pid of processes()) {
    // The name of the program is in brackets and may hold anything.
    const stat = textOf(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15).map(Number);
    const group = Number(fields[2]);
    const ticks = user + system + childrenUser + childrenSystem;
    if (Number.isInteger(group) && ticks > 0) times.set(group, (times.get(group) ?? 0) + ticks * TICK_MS);
  }
  return times;
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Empty for a process that has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
