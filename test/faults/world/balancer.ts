import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface Balancer {
  url: string;
  close: () => Promise<void>;
}

/**
 * One address for the replicas of a service: connections go to them in turn. One that refuses is passed over, as one
 * that is not ready would be; one that hangs is not noticed. The list may change: new connections go by it.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true).once('close', () => sockets.delete(socket));
  };
  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(client);
    turn += 1;
    const order = ports.map((_port, index) => ports[(turn + index) % ports.length] as number);
    connectFirst(order, client, keep);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function connectFirst([port, ...others]: readonly number[], client: Socket, keep: (socket: Socket) => void): void {
  if (port === undefined) {
    client.resetAndDestroy();
    return;
  }
  const upstream = connect({ host: '127.0.0.1', port });
  const next = () => connectFirst(others, client, keep);
  keep(upstream);
  upstream.once('error', next);
  upstream.once('connect', () => {
    upstream.off('error', next);
    client.pipe(upstream).pipe(client);
    // A reset is passed on as one: its receiver has to see that the answer is not complete.
    client.once('error', () => upstream.resetAndDestroy());
    upstream.once('error', () => client.resetAndDestroy());
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  });
}
