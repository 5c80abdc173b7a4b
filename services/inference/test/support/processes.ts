import { readFileSync, readdirSync } from 'node:fs';

/** Open descriptors of this process, except the one that lists them. */
export const descriptors = (): string[] => readdirSync('/proc/self/fd');

interface Member {
  pid: number;
  command: string;
  niceness: number;
  rssBytes: number;
  limits: string;
}

/** The running processes of a process group. */
export function membersOf(group: number): Member[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => memberOf(Number(pid), group));
}

function memberOf(pid: number, group: number): Member[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program is in brackets and may contain any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[2]) !== group || fields[0] === 'Z') return [];
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    return [{ pid, command, niceness: Number(fields[16]), rssBytes: Number(fields[21]) * 4096, limits }];
  } catch {
    // It ended while its entry was read.
    return [];
  }
}

/** Command lines of all descendants of this process. */
export function descendants(): string[] {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => familyOf(Number(pid)));
  const isOurs = (pid: number): boolean => {
    const parent = found.find((one) => one.pid === pid)?.parent ?? 0;
    return parent === process.pid || (parent > 1 && isOurs(parent));
  };
  return found.filter(({ pid }) => isOurs(pid)).map(({ command }) => command);
}

function familyOf(pid: number): { pid: number; parent: number; command: string }[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z') return [];
    return [
      { pid, parent: Number(parent), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') },
    ];
  } catch {
    // It ended while its entry was read.
    return [];
  }
}
