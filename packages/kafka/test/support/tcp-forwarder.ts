import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

export interface TcpForwarder {
  /** `host:port` of the forwarder. */
  address: string;
  open: () => Promise<void>;
  /** Refuses new connections and cuts those that exist. */
  close: () => Promise<void>;
}

/**
 * A TCP address that can be there or not, in front of a real server: an outage without stopping anything.
 * It starts closed.
 */
export async function createTcpForwarder(target: string): Promise<TcpForwarder> {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  const listen = (at: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  const own = await listen(0);
  await close();
  return {
    address: `127.0.0.1:${own}`,
    open: async () => {
      await listen(own);
    },
    close,
  };
}
