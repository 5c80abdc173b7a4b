import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Since the server began: its processor time, and the bytes of its flood that the kernel took or that wait for it. */
export interface ServerCost {
  cpuMs: number;
  floodBytes: number;
}

/** A stream that plays as a camera does until it is told to turn hostile. */
export interface HostileStream {
  url: string;
  turn: () => Promise<ServerCost>;
  cost: () => Promise<ServerCost>;
  close: () => void;
}

/**
 * Serves one of `HOSTILE_STREAMS` from a process of its own at nice 19, so that the sender takes no processor from
 * those that are measured.
 */
export async function hostileStream(name: string): Promise<HostileStream> {
  const args = [
    process.execPath,
    '--conditions=@vision/source',
    '--no-warnings',
    join(import.meta.dirname, 'server.ts'),
  ];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const server = spawn('nice', ['-n', '19', ...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env });
  const ask = async <T>(message: object): Promise<T> => {
    server.send(message);
    const [reply] = (await once(server, 'message')) as [T];
    return reply;
  };
  const { url } = await ask<{ url: string }>({ serve: name });
  return {
    url,
    turn: () => ask<ServerCost>({ turn: true }),
    cost: () => ask<ServerCost>({ cost: true }),
    close: () => server.connected && server.disconnect(),
  };
}
