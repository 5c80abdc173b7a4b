import { execFile, spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ImageSize } from '@vision/contracts/detection';
import { until } from '@vision/shared/testing/until';

const run = promisify(execFile);
const here = import.meta.dirname;
const root = join(here, '../..');
const venv = join(root, '.local/cache/peer-venv');

export interface Peer {
  url: string;
  stop: () => Promise<void>;
}

/** @throws with the reason when this machine has no Python, or cannot install what the server needs. */
export async function startPeer(model: string, { width, height }: ImageSize): Promise<Peer> {
  await install();
  const port = await freePort();
  const child = spawn(
    join(venv, 'bin/uvicorn'),
    ['server:app', '--workers', '2', '--host', '127.0.0.1', '--port', String(port), '--log-level', 'warning'],
    {
      cwd: here,
      env: { ...process.env, PEER_MODEL: model, PEER_WIDTH: String(width), PEER_HEIGHT: String(height) },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const isReady = async () => child.exitCode === null && (await fetch(`${url}/ready`)).ok;
  await until(isReady, { timeoutMs: 60_000, intervalMs: 200 });
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A virtual environment with exactly what `requirements.txt` says, kept between runs. */
async function install(): Promise<void> {
  const stamp = join(venv, 'bin/uvicorn');
  const isThere = await access(stamp).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  await run('python3', ['-m', 'venv', venv]);
  await run(join(venv, 'bin/pip'), ['install', '--quiet', '--requirement', join(here, 'requirements.txt')]);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
