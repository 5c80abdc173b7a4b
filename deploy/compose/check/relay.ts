import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

export interface Relay {
  close: () => Promise<void>;
}

/** Hands connections on: what a published port does, or the address of a container that a host program stands for. */
export async function startRelay(
  from: { host: string; port: number },
  to: { host: string; port: number },
): Promise<Relay> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(to);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy()).on('close', () => open.delete(one) && other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((done, failed) => server.once('error', failed).listen(from.port, from.host, done));
  return {
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
