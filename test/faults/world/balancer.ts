import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface Balancer {
  url: string;
  close: () => Promise<void>;
}

interface BalancerOptions {
  /** Where a process is asked whether it is ready; one that is not gets no new connection while another is. */
  healthUrlOf?: (port: number) => string;
}

const ASK_MS = 250;

/**
 * One address for the replicas of a service: connections go to them in turn. One that refuses is passed over; one that
 * hangs is not noticed. The list may change: new connections go by it.
 */
export async function startBalancer(
  ports: readonly number[],
  { healthUrlOf }: BalancerOptions = {},
): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true).once('close', () => sockets.delete(socket));
  };
  const readiness = healthUrlOf && watchReadiness(ports, healthUrlOf);
  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(client);
    turn += 1;
    const order = ports.map((_port, index) => ports[(turn + index) % ports.length] as number);
    const isUnready = (port: number) => Number(readiness?.unready.has(port) === true);
    connectFirst(
      order.toSorted((one, other) => isUnready(one) - isUnready(other)),
      client,
      keep,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all([readiness?.stop(), new Promise<void>((resolve) => server.close(() => resolve()))]);
    },
  };
}

/** The ports of processes that said that they are not ready, or refused the question. Silence changes nothing. */
function watchReadiness(ports: readonly number[], healthUrlOf: (port: number) => string) {
  const unready = new Set<number>();
  const over = new AbortController();
  const ask = async (port: number) => {
    try {
      const answer = await fetch(`${healthUrlOf(port)}/health/ready`, { signal: AbortSignal.timeout(2_000) });
      await answer.body?.cancel();
      if (answer.ok) unready.delete(port);
      else unready.add(port);
    } catch (error) {
      if ((error as Error).name !== 'TimeoutError') unready.add(port);
    }
  };
  const watching = (async () => {
    while (!over.signal.aborted) {
      await Promise.all(ports.map(ask));
      await delay(ASK_MS);
    }
  })();
  return {
    unready,
    stop: () => {
      over.abort();
      return watching;
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
