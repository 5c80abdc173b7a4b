import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port that streams may come from: only the rule about addresses keeps a connection away. */
const STREAM_PORT = 8554;

/** A listener that an attack tries to have reached, on an address of its own. */
export interface Inner {
  host: string;
  port: number;
  url: (scheme: string) => string;
  hits: () => number;
  close: () => void;
}

let made = 0;

/** Loopback has 16 million addresses; the system under test may reach the first one only. */
export async function openInner(port: number = STREAM_PORT): Promise<Inner> {
  made += 1;
  const host = `127.77.${made >> 8}.${made & 255}`;
  let hits = 0;
  const server = createServer((socket) => {
    hits += 1;
    socket.on('error', () => undefined).destroy();
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    host,
    port,
    url: (scheme) => `${scheme}://${host}:${port}/inner`,
    hits: () => hits,
    close: () => void server.close(),
  };
}
