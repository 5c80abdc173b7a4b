import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The wall clock of one process. The clock by which it measures durations goes on unchanged, as after a real step. */
export interface ProcessClock {
  /** What its process has to be started with. */
  env: NodeJS.ProcessEnv;
  /** False when the library that steps clocks is not on this machine. */
  canStep: boolean;
  /** Hours from the true time, in force within a second. */
  step: (hours: number) => void;
}

/** @param library libfaketime, which is loaded before the C library of the process */
export function createProcessClock(file: string, library: string | undefined): ProcessClock {
  const step = (hours: number) => {
    writeFileSync(`${file}.new`, `${hours < 0 ? '' : '+'}${hours * 3600}\n`);
    renameSync(`${file}.new`, file);
  };
  mkdirSync(dirname(file), { recursive: true });
  step(0);
  if (library === undefined) return { env: {}, canStep: false, step };
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  return { env, canStep: true, step };
}
