import { createServer } from 'node:net';

/**
 * A port of the loopback address for a process that is about to start. It is none of those that the system gives to
 * outgoing connections (32768 and up), which could take it before the process listens, and no two workers of the test
 * runner get the same.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_OF_WORKER; tries += 1) {
    next = (next + 1) % PORTS_OF_WORKER;
    const port = FIRST_PORT + worker * PORTS_OF_WORKER + next;
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

const FIRST_PORT = 20_000;
const WORKERS = 8;
const PORTS_OF_WORKER = 1_500;

const worker = Number(process.env['JEST_WORKER_ID'] ?? 0) % WORKERS;
// Every test file begins elsewhere, so that what an earlier one left behind is seldom met.
let next = Math.floor(Math.random() * PORTS_OF_WORKER);

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  return promise;
}
