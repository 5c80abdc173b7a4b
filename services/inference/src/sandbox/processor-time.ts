import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of the clock by which Linux tells processor time. */
const TICK_MS = 10;

/**
 * Processor time in milliseconds by process group, as /proc tells it; what was started in a sandbox is one group.
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

/**
 * Time in milliseconds for which threads of these process groups wanted a processor and got none, as the scheduler
 * counts it. Empty where the kernel does not.
 */
export function processorWaitByGroup(groups: readonly number[]): Map<number, number> {
  const waits = new Map<number, number>();
  if (groups.length === 0) return waits;
  for (const { group, pid, thread } of threadsOf(groups)) {
    const nanoseconds = Number(textOf(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[1]);
    if (nanoseconds > 0) waits.set(group, (waits.get(group) ?? 0) + nanoseconds / 1e6);
  }
  return waits;
}

/** All threads of these process groups, now. */
export function* threadsOf(groups: readonly number[]): Generator<{ group: number; pid: number; thread: number }> {
  for (const pid of processes()) {
    const stat = textOf(`/proc/${pid}/stat`);
    const group = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
    if (!groups.includes(group)) continue;
    for (const thread of numbersIn(`/proc/${pid}/task`)) yield { group, pid: Number(pid), thread: Number(thread) };
  }
}

const processes = () => numbersIn('/proc');

function numbersIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name));
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
