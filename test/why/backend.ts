import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Lateness } from './late-backend.ts';

export interface LateBackend {
  url: string;
  isLateWith: (part: Lateness) => Promise<void>;
  /** While the work is done no connection to it comes about. */
  whileUnreachable: <T>(work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}

/** Starts `late-backend.ts`. */
export async function startLateBackend(): Promise<LateBackend> {
  const child = fork(join(import.meta.dirname, 'late-backend.ts'), { execArgv: [] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    isLateWith: async (part) => {
      const heard = once(child, 'message');
      child.send(part);
      await heard;
    },
    whileUnreachable: async (work) => {
      child.kill('SIGSTOP');
      const waiting = await fillQueue(port);
      try {
        return await work();
      } finally {
        for (const socket of waiting) socket.destroy();
        child.kill('SIGCONT');
      }
    },
    close: () => ended(child),
  };
}

const MOST_CONNECTIONS = 20;
const CONNECT_MS = 300;

/** Connects to a frozen process until the system takes no more connections for it. */
async function fillQueue(port: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let count = 0; count < MOST_CONNECTIONS; count += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    const connected = once(socket, 'connect').then(() => true);
    // eslint-disable-next-line no-restricted-syntax -- the loser ends by itself or is closed with the other sockets
    if (!(await Promise.race([connected, delay(CONNECT_MS, false)]))) return sockets;
  }
  throw new Error(`${MOST_CONNECTIONS} connections to a frozen process came about`);
}

async function ended(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
