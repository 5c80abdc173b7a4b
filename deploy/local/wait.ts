import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Asks every `everyMs` until the answer is true; false when `timeoutMs` have passed or `stopped` says so. */
export async function becomesTrue(
  ask: () => Promise<boolean>,
  options: { timeoutMs: number; everyMs?: number; stopped?: () => boolean },
): Promise<boolean> {
  const deadline = Date.now() + options.timeoutMs;
  for (;;) {
    if (options.stopped?.() === true) return false;
    if (await ask().catch(() => false)) return true;
    if (Date.now() > deadline) return false;
    await pause(options.everyMs ?? 100);
  }
}

/** GET answers 2xx. */
export async function answersOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
  await response.body?.cancel();
  return response.ok;
}

/** Sends one line over TCP and compares the beginning of the answer. */
export async function answersLine(port: number, line: string, expected: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 }, () => socket.write(line));
    const finish = (answer: boolean) => {
      socket.destroy();
      done(answer);
    };
    socket.once('data', (chunk) => finish(chunk.toString().startsWith(expected)));
    socket.once('error', () => finish(false));
    socket.once('timeout', () => finish(false));
  });
}

/** True when a listener could be opened on the port. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => done(true)));
  });
}
