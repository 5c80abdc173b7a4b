import { readFileSync, rmSync } from 'node:fs';

/**
 * Names a step between two durable effects. In tests, `CRASH_AT=<name>` (or `<name>:<n>` for the n-th passage) kills
 * the process there with SIGKILL, so that recovery from every step can be shown. `STEP_TRAP_FILE=<path>` does so at any
 * time: once the file holds `<name> <signal>`, the process that gets to the step removes it and sends itself the
 * signal, SIGSTOP for example. Otherwise a step does nothing. The names are read from the sources by the crash suite: a
 * step without a case fails it.
 */
export function crashPoint(name: string): void {
  if (trapFile !== undefined) springTrap(trapFile, name);
  if (crashAt === undefined) return;
  const [wanted, passage = '1'] = crashAt.split(':');
  if (wanted !== name) return;
  passages += 1;
  if (passages === Number(passage)) process.kill(process.pid, 'SIGKILL');
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

let passages = 0;
/* eslint-disable n/no-process-env -- test switches, deliberately outside every configuration */
const isTest = process.env['NODE_ENV'] === 'test';
const crashAt = isTest ? process.env['CRASH_AT'] : undefined;
const trapFile = isTest ? process.env['STEP_TRAP_FILE'] : undefined;
