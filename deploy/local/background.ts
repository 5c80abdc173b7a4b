import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { say } from './settings.ts';
import type { Settings } from './settings.ts';
import { becomesTrue, isPortFree } from './wait.ts';

/** A program that runs on after this process: detached, output in `log/<name>.log`, identity in `run/<name>.pid`. */
export interface Program {
  name: string;
  command: string;
  args: string[];
  port: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  user?: { uid: number; gid: number } | undefined;
  /** A text that changes with the settings: a running program with other settings is started anew. */
  fingerprint?: string;
  ready: () => Promise<boolean>;
  readyTimeoutMs?: number;
}

/** A program that ends is noticed at once; a busy machine starts one for the first time in two minutes. */
const READY_TIMEOUT_MS = 180_000;

/** Starts the program unless it runs already, and returns when it is ready. */
export async function ensureRunning(settings: Settings, program: Program): Promise<void> {
  if (hasOtherSettings(settings, program)) await stopProgram(settings, program.name, 'SIGTERM', 30_000);
  const runs = runningPid(settings, program.name) !== undefined;
  if (!runs && !(await isPortFree(program.port))) {
    throw new Error(
      `Port ${program.port} (${program.name}) is taken by another program; set VISION_PORT_BASE to move all ports of this copy.`,
    );
  }
  const child = runs ? undefined : launch(settings, program);
  let ended = false;
  child?.once('exit', () => (ended = true));
  child?.once('error', () => (ended = true));
  // It outlives this command, also when it does not become ready.
  child?.unref();
  const ready = await becomesTrue(program.ready, {
    timeoutMs: program.readyTimeoutMs ?? READY_TIMEOUT_MS,
    stopped: () => ended || runningPid(settings, program.name) === undefined,
  });
  if (!ready) throw new Error(failureText(settings, program.name, ended));
  say(program.name, runs ? 'is running' : `ready on port ${program.port}`);
}

function launch(settings: Settings, program: Program) {
  const log = startLog(settings, program.name);
  mkdirSync(join(settings.localDir, 'run'), { recursive: true });
  const child = spawn(program.command, program.args, {
    cwd: program.cwd ?? '/',
    env: program.env ?? process.env,
    detached: true,
    stdio: ['ignore', log.output, log.output],
    ...program.user,
  });
  log.close();
  if (child.pid === undefined) return child;
  writeFileSync(pidFile(settings, program.name), `${child.pid} ${startTime(child.pid)}`);
  if (program.fingerprint !== undefined) writeFileSync(fingerprintFile(settings, program.name), program.fingerprint);
  return child;
}

function hasOtherSettings(settings: Settings, { name, fingerprint }: Program): boolean {
  if (fingerprint === undefined || runningPid(settings, name) === undefined) return false;
  const file = fingerprintFile(settings, name);
  return existsSync(file) && readFileSync(file, 'utf8') !== fingerprint;
}

/** Opens `log/<name>.log` anew; the one before stays as `.log.1`. */
export function startLog(settings: Settings, name: string) {
  const file = logFile(settings, name);
  mkdirSync(join(settings.localDir, 'log'), { recursive: true });
  if (existsSync(file)) renameSync(file, `${file}.1`);
  const output = openSync(file, 'w', 0o600);
  return { file, output, close: () => closeSync(output), tail: () => tailOf(file) };
}

/** The pid of a program that this copy started and that still runs. A recycled pid has another start time. */
export function runningPid(settings: Settings, name: string): number | undefined {
  const file = pidFile(settings, name);
  if (!existsSync(file)) return undefined;
  const [pid = '', ...started] = readFileSync(file, 'utf8').split(' ');
  const now = startTime(Number(pid));
  return now !== '' && now === started.join(' ') ? Number(pid) : undefined;
}

export function startedPrograms(settings: Settings): string[] {
  const dir = join(settings.localDir, 'run');
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((file) => file.endsWith('.pid'))
    .map((file) => file.slice(0, -'.pid'.length));
}

/** Asks the program to end, insists after `graceMs`, and forgets it. */
export async function stopProgram(
  settings: Settings,
  name: string,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<void> {
  const pid = runningPid(settings, name);
  if (pid !== undefined) {
    kill(pid, signal);
    const gone = async () => runningPid(settings, name) === undefined;
    if (!(await becomesTrue(gone, { timeoutMs: graceMs, everyMs: 50 }))) {
      kill(-pid, 'SIGKILL');
      await becomesTrue(gone, { timeoutMs: 5000, everyMs: 50 });
    }
    say(name, 'stopped');
  }
  rmSync(pidFile(settings, name), { force: true });
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between the check and the signal.
  }
}

/**
 * A text that changes when the pid is given to another process; empty for no process or one that is only
 * not reaped yet.
 */
function startTime(pid: number): string {
  if (existsSync('/proc/self/stat')) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return fields[0] === 'Z' ? '' : (fields[19] ?? '');
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}

function logFile(settings: Settings, name: string): string {
  return join(settings.localDir, 'log', `${name}.log`);
}

function pidFile(settings: Settings, name: string): string {
  return join(settings.localDir, 'run', `${name}.pid`);
}

function fingerprintFile(settings: Settings, name: string): string {
  return join(settings.localDir, 'run', `${name}.settings`);
}

function failureText(settings: Settings, name: string, ended: boolean): string {
  const file = logFile(settings, name);
  return `${name} ${ended ? 'ended while starting' : 'did not become ready'}. The last lines of ${file}:\n${tailOf(file)}`;
}

function tailOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-20).join('\n') : '(no log)';
}
