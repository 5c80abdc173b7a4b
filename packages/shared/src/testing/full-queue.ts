import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const MOST_CONNECTIONS = 20;
const CONNECT_MS = 300;

/** Connects to a frozen process until the system accepts no more connections for it. */
export async function fillQueue(port: number): Promise<Socket[]> {
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

const LISTENER = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;

/** A frozen process that listens with a full queue: a connection to it is neither refused nor established. */
export async function startUnreachable(): Promise<{ url: string; close: () => Promise<void> }> {
  const child = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  child.kill('SIGSTOP');
  const waiting = await fillQueue(port);
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      for (const socket of waiting) socket.destroy();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
