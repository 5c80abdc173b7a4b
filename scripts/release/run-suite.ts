import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Suite } from './suites.ts';

export interface Ended {
  passed: boolean;
  seconds: number;
  reason: string;
}

/** Between the lines that say that a suite still runs. */
const PROGRESS_MS = 5 * 60_000;
const GRACE_MS = 30_000;

interface Options {
  cwd: string;
  /** Takes everything that the suite prints. */
  logFile: string;
  signal: AbortSignal;
  say: (line: string) => void;
}

/** Runs a suite in a process group of its own, which ends with it, at its limit, or when the signal is given. */
export async function runSuite(suite: Suite, { cwd, logFile, signal, say }: Options): Promise<Ended> {
  const { name, command, limitMinutes } = suite;
  const missing = missingNeeds(suite);
  if (missing !== undefined) return { passed: false, seconds: 0, reason: missing };
  const from = performance.now();
  const minutes = () => Math.round((performance.now() - from) / 60_000);
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'w');
  const env = { ...process.env, REPORT: '1', ONLY: '', MAKEFLAGS: '', MAKELEVEL: '', MAKEOVERRIDES: '' };
  const child = spawn('sh', ['-c', command], { cwd, env, stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  const atLimit = AbortSignal.timeout(limitMinutes * 60_000);
  const endsEarly = AbortSignal.any([atLimit, signal]);
  const end = () => endGroup(child.pid);
  endsEarly.addEventListener('abort', end, { once: true });
  const progress = setInterval(
    () => say(`${name}: ${minutes()} of at most ${limitMinutes} min; ${lastLine(logFile)}`),
    PROGRESS_MS,
  );
  const code = await new Promise<number>((done) => {
    child.once('error', () => done(127));
    child.once('exit', (status) => done(status ?? 1));
  });
  clearInterval(progress);
  endsEarly.removeEventListener('abort', end);
  // Programs that a suite left behind would disturb the next one.
  send(child.pid, 'SIGKILL');
  const seconds = Math.round((performance.now() - from) / 1000);
  if (signal.aborted) return { passed: false, seconds, reason: 'interrupted' };
  if (atLimit.aborted) return { passed: false, seconds, reason: `no end after ${limitMinutes} min` };
  const leftOut = suite.leftOut?.exec(readFileSync(logFile, 'utf8'))?.[1];
  if (code === 0 && leftOut !== undefined) return { passed: false, seconds, reason: leftOut };
  return { passed: code === 0, seconds, reason: code === 0 ? '' : lastLine(logFile) };
}

/** What the machine lacks, as a sentence. */
export function missingNeeds({ needsRoot, needs = [] }: Suite, uid = process.getuid?.(), path = process.env['PATH']) {
  if (needsRoot && uid !== 0) return 'needs root';
  const lacking = needs.filter((program) => !isOnPath(program, path));
  return lacking.length === 0 ? undefined : `needs ${lacking.join(' and ')}`;
}

function isOnPath(program: string, path = ''): boolean {
  return path.split(':').some((folder) => {
    try {
      closeSync(openSync(`${folder}/${program}`, 'r'));
      return true;
    } catch {
      return false;
    }
  });
}

/** The last line that says more than that make failed. */
function lastLine(file: string): string {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '' && !/^make(\[\d+\])?: |^npm (warn|notice)/.test(line)).at(-1) ?? '';
}

function endGroup(pid: number | undefined): void {
  send(pid, 'SIGTERM');
  setTimeout(() => send(pid, 'SIGKILL'), GRACE_MS).unref();
}

function send(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The whole group has ended.
  }
}
