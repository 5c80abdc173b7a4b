import { once } from 'node:events';
import { createServer } from 'node:net';
import { startDnsServer } from '@vision/shared/testing/dns-server';

/** A name that leads to loopback, and while it is turned to an inner address too, which services may not call. */
export interface TurningName {
  host: string;
  /** Settings by which the services resolve it. */
  env: NodeJS.ProcessEnv;
  turn: (isTurned: boolean) => void;
  /** Answers that gave the inner address. */
  answered: () => number;
  /** Connections to the inner address. */
  reached: () => number;
  close: () => Promise<void>;
}

const [OWN, INNER] = ['127.0.0.1', '127.0.0.2'];

/** The inner address has a listener on the same port, so that a connection to it is seen. */
export async function startTurningName(host: string, port: number): Promise<TurningName> {
  let [isTurned, turn, answered, reached] = [false, 0, 0, 0];
  const inner = createServer((socket) => {
    reached += 1;
    socket.destroy();
  });
  inner.listen(port, INNER);
  await once(inner, 'listening');
  const names = await startDnsServer(({ name, type }) => {
    if (name !== host) return 'nxdomain';
    if (type !== 'A') return 'nothing';
    // In turn, so that an address that was checked differs from one that is asked for again.
    turn += 1;
    if (!isTurned || turn % 2 === 0) return { addresses: [OWN] };
    answered += 1;
    return { addresses: [INNER] };
  });
  return {
    host,
    env: { WEBHOOK_DNS_SERVERS: names.address },
    turn: (next) => {
      isTurned = next;
    },
    answered: () => answered,
    reached: () => reached,
    close: async () => {
      await names.close();
      await new Promise((resolve) => inner.close(resolve));
    },
  };
}
