import { readdirSync, readFileSync } from 'node:fs';
import { pidOf } from './processes.ts';

/** What a program and all processes that it started use. */
export interface Use {
  /** Memory in MiB; what processes share counts once (PSS). */
  memoryMiB: number;
  /** Processor time since the start, in seconds, that of ended children included. */
  cpuS: number;
}

const TICKS_PER_S = 100;

/** @param program as `make up` names it */
export function useOf(program: string, directory?: string): Use {
  const processes = readProcesses();
  const tree = [pidOf(program, directory)];
  for (const pid of tree) tree.push(...processes.filter((one) => one.parent === pid).map((one) => one.pid));
  const own = processes.filter(({ pid }) => tree.includes(pid));
  return {
    memoryMiB: sum(own.map(({ pid }) => pssKiB(pid))) / 1024,
    cpuS: sum(own.map(({ ticks }) => ticks)) / TICKS_PER_S,
  };
}

/** Processor time that one process has used since its start, in seconds. */
export function cpuSecondsOf(pid: number): number {
  return (readProcesses().find((one) => one.pid === pid)?.ticks ?? 0) / TICKS_PER_S;
}

function readProcesses(): { pid: number; parent: number; ticks: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = read(`/proc/${name}/stat`);
      // The name of the program is in brackets and may hold anything.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields.length < 15) return [];
      return [{ pid: Number(name), parent: Number(fields[1]), ticks: sum(fields.slice(11, 15).map(Number)) }];
    });
}

function pssKiB(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
}

/** Empty for a process that has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
