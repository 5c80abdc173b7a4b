import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { residentMiB as residentMiBOf } from '../test/support/resident-memory.ts';

export const localDir = resolve(import.meta.dirname, '..', process.env['VISION_LOCAL_DIR'] ?? '.local');

/** Of a program that `make up` started, or a copy of it that works in another folder. */
export function pidOf(program: string, directory = localDir): number {
  return Number(readFileSync(join(directory, 'run', `${program}.pid`), 'utf8').split(' ')[0]);
}

/**
 * Gives this process, and those that it starts from now on, the priority of the services: what is compared with them on
 * the same cores must get no more of these, and no less.
 */
export function takePriorityOfServices(): void {
  const theirs = getPriority(pidOf('gateway'));
  if (getPriority() !== theirs) setPriority(theirs);
}

/** Resident memory in MiB of a program that `make up` started. */
export const residentMiB = (program: string): number => residentMiBOf(pidOf(program));

/** Runs `work` and returns the highest resident memory of each program seen meanwhile, sampled every 50 ms, in MiB. */
export async function peakMiB(programs: string[], work: () => Promise<unknown>): Promise<Map<string, number>> {
  const peaks = new Map(programs.map((program) => [program, residentMiB(program)]));
  const sampler = setInterval(() => {
    for (const [program, peak] of peaks) peaks.set(program, Math.max(peak, residentMiB(program)));
  }, 50);
  try {
    await work();
  } finally {
    clearInterval(sampler);
  }
  return peaks;
}
