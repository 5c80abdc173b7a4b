import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SpanReceiver {
  url: string;
  /** What arrived (at this path), as it came: names and attributes stand in it as plain text. */
  text: (path?: string) => string;
  /** What arrived at this path as JSON (`OTEL_EXPORTER_OTLP_PROTOCOL=http/json`). */
  json: (path: string) => unknown[];
  clear: () => void;
  close: () => Promise<void>;
}

/** A receiver of exported telemetry as far as tests need one: it keeps the bytes. */
export async function startSpanReceiver(): Promise<SpanReceiver> {
  const received: { path: string; body: Buffer }[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      received.push({ path: req.url ?? '', body: Buffer.concat(chunks) });
      res.setHeader('Content-Type', req.headers['content-type'] ?? '').end();
    });
  });
  const bodies = (path?: string) =>
    received.filter((one) => path === undefined || one.path === path).map(({ body }) => body);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: (path) => Buffer.concat(bodies(path)).toString('latin1'),
    json: (path) => bodies(path).map((body) => JSON.parse(body.toString()) as unknown),
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
