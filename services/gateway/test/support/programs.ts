import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@vision/shared/testing/ports';
import { inheritedEnvironment, testEntry } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';

const service = join(import.meta.dirname, '../..');

export interface Program {
  signal: (name: NodeJS.Signals) => void;
  /** Kills it and waits until it is gone. */
  kill: () => Promise<void>;
  /** Asks it to stop; resolves with its exit code. */
  stop: () => Promise<number | null>;
}

/** A Redis of this test alone, which may be stopped. */
export async function startRedis(port: number): Promise<Program> {
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--bind', '127.0.0.1'], {
    stdio: 'ignore',
  });
  await until(() => isOpen(port));
  return programOf(child);
}

/** A gateway as a process of its own, which may be killed. */
export async function startGatewayProcess(
  env: Record<string, string>,
): Promise<Program & { url: string; healthUrl: string }> {
  const [port, adminPort, healthPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort), HEALTH_PORT: String(healthPort) };
  const flags = ['--conditions=@vision/source', '--import', './src/telemetry.ts'];
  const child = spawn(process.execPath, [...flags, testEntry, 'gateway'], {
    cwd: service,
    env: { ...inheritedEnvironment, ...env, ...ports },
    stdio: 'ignore',
  });
  const program = programOf(child);
  try {
    await until(async () => (await fetch(`http://127.0.0.1:${healthPort}/health/ready`)).ok);
  } catch (error) {
    await program.kill();
    throw error;
  }
  return { ...program, url: `http://127.0.0.1:${port}`, healthUrl: `http://127.0.0.1:${healthPort}` };
}

function programOf(child: ChildProcess): Program {
  const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return {
    signal: (name) => child.kill(name),
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    stop: () => {
      child.kill('SIGTERM');
      return gone;
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
