import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '@vision/shared/testing/ports';
import { inheritedEnvironment, testEntry } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import { clientOf } from './start-images.ts';

const root = join(import.meta.dirname, '../..');

export type Child = ReturnType<typeof clientOf> & {
  pid: number;
  /** Resolves with the signal that ended the process. */
  ended: Promise<string | null>;
  stop: () => Promise<void>;
};

/** The service as a process of its own, so that a test can kill it. */
export async function startChild(env: Record<string, string>): Promise<Child> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, ['--conditions=@vision/source', testEntry, 'images'], {
    cwd: root,
    env: { ...inheritedEnvironment, ...env, PORT: String(port), HEALTH_PORT: String(healthPort) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit').then(([, signal]) => signal as string | null);
  await until(() => isReady(child, healthPort), { intervalMs: 50 });
  return {
    ...clientOf(`http://127.0.0.1:${port}`),
    pid: child.pid ?? 0,
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function isReady(child: ChildProcess, healthPort: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return true;
  return (await fetch(`http://127.0.0.1:${healthPort}/health/ready`)).ok;
}
