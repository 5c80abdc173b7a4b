import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SpanReceiver {
  url: string;
  /** Everything that arrived, as it came: names and attributes stand in it as plain text. */
  text: () => string;
  clear: () => void;
  close: () => Promise<void>;
}

/** A receiver of exported spans as far as tests need one: it keeps the bytes. */
export async function startSpanReceiver(): Promise<SpanReceiver> {
  const received: Buffer[] = [];
  const server = createServer((req, res) => {
    req.on('data', (chunk: Buffer) => received.push(chunk)).on('end', () => res.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => Buffer.concat(received).toString('latin1'),
    clear: () => void received.splice(0),
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Runs a program under the telemetry of a service. @returns what it wrote. @throws Error when it fails. */
export async function runTraced(preload: string, program: string, args: string[], env: Record<string, string>) {
  const flags = ['--conditions=@vision/source', '--import', preload, program, ...args];
  const child = spawn(process.execPath, flags, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '--no-warnings', ...env },
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
  return Buffer.concat(output).toString();
}
