import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { freePort } from '@vision/shared/testing/ports';
import { until } from '@vision/shared/testing/until';

/** An internal endpoint that a hostile server tries to make the service reach. */
export interface Elsewhere {
  host: string;
  port: number;
  url: string;
}

/** A TCP server of the test that counts its connections. */
export async function tcpServer(onConnection: (socket: Socket) => void, host = '127.0.0.1') {
  const sockets = new Set<Socket>();
  const seen = { connections: 0 };
  const server = createServer((socket) => {
    seen.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close: () => {
      server.close();
      sockets.forEach((socket) => socket.destroy());
    },
  };
}

const LOOP = ['-v', 'error', '-nostdin', '-re', '-stream_loop', '-1'];

function end(child: ChildProcess): void {
  child.kill('SIGKILL');
}

/** One viewer's RTMP stream, served by ffmpeg itself. */
export async function rtmpServer(file: string, path: string) {
  const port = await freePort();
  const args = [...LOOP, '-i', file, '-c', 'copy', '-f', 'flv', '-listen', '1', `rtmp://127.0.0.1:${port}${path}`];
  const child = spawn('ffmpeg', args, { stdio: 'ignore' });
  // Connecting to the port would use up the only connection it accepts, so the system's table is read.
  await until(() => isListening(port));
  return { port, close: () => end(child) };
}

async function isListening(port: number): Promise<boolean> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  return lines.some(([, local = '', , state]) => local.endsWith(wanted) && state === '0A');
}
