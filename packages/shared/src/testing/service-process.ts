import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

export interface RunningProcess {
  child: ChildProcess;
  /** Everything it wrote to stdout and stderr so far. */
  output: () => string;
  /** Resolves with the signal or code it ended with. */
  ended: Promise<string>;
  stop: () => Promise<void>;
}

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Runs the service that its first argument names. */
export const testEntry = `${root}test/support/main.ts`;

/** What a process gets from the one that runs the tests; everything else that it knows is said by the test. */
export const inheritedEnvironment = {
  PATH: process.env['PATH'] ?? '',
  ...(process.env['NODE_COMPILE_CACHE'] && { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }),
};

/** Runs a service from its sources, as a process of its own; `env` may also give its constants and steps to die at. */
export function startProcess(service: string, env: Record<string, string>, args: string[] = []): RunningProcess {
  return startProgram([testEntry, service, ...args], env);
}

/** The same by the `main.ts` that operators run, which reads nothing but its settings. */
export function startMain(service: string, env: Record<string, string>, args: string[] = []): RunningProcess {
  return startProgram([`services/${service}/src/main.ts`, ...args], env);
}

function startProgram(args: string[], env: Record<string, string>): RunningProcess {
  const child = spawn(process.execPath, ['--conditions=@vision/source', ...args], {
    cwd: root,
    env: { ...inheritedEnvironment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<string>((resolve) => {
    child.on('exit', (code, signal) => resolve(signal ?? String(code)));
  });
  return {
    child,
    output: () => output,
    ended,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 120_000);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Migrates the database of a service by its own command. */
export async function migrateProcess(service: string, env: Record<string, string>): Promise<void> {
  const running = startProcess(service, env, ['migrate']);
  const code = await running.ended;
  if (code !== '0') throw new Error(`${service} migrate ended with ${code}: ${running.output()}`);
}

/** Waits until the health port of a process says that it can serve. */
export async function untilReady(running: RunningProcess, healthPort: number): Promise<void> {
  await until(
    async () => {
      if (running.child.exitCode !== null || running.child.signalCode !== null) return 'ended';
      return (await fetch(`http://127.0.0.1:${healthPort}/health/ready`)).status === 200;
    },
    { intervalMs: 50 },
  );
  if (running.child.exitCode !== null || running.child.signalCode !== null)
    throw new Error(`it ended: ${running.output()}`);
}

/** A process of a service behind one address, which can be replaced as a rollout or a crash does. */
export interface ReplaceableProcess {
  /** Ends it by a signal, and starts another one in its place. */
  replace: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  stop: () => Promise<void>;
}

/** Starts it, and waits until it can serve. `env` names its ports, `HEALTH_PORT` among them. */
export async function startReplaceable(service: string, env: Record<string, string>): Promise<ReplaceableProcess> {
  const start = async () => {
    const started = startProcess(service, env);
    await untilReady(started, Number(env['HEALTH_PORT']));
    return started;
  };
  let running = await start();
  return {
    replace: async (signal) => {
      running.child.kill(signal);
      await running.ended;
      running = await start();
    },
    stop: () => running.stop(),
  };
}
