import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyWebhook } from '@vision/client/webhooks';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { makeCertificates } from '@vision/shared/testing/made-certificates';
import { startTurningName } from './turning-name.ts';
import type { TurningName } from './turning-name.ts';

/** A webhook as it arrived. */
export interface Arrival {
  path: string;
  eventId: string;
  body: string;
  at: number;
  /**
   * `taken`: its signature holds and the answer began with 200. `turned away`: it holds, and the receiver answered
   * something else or nothing. `stale`: the clock of its sender differs by more than a receiver allows.
   */
  outcome: 'taken' | 'turned away' | 'stale' | 'altered';
}

/** What receivers do with webhooks. */
export type Behaviour = keyof typeof behaviours;

/** Receivers of webhooks behind one address, apart by their paths, over TLS. */
export interface Receiver {
  url: string;
  /** Settings by which the services find it and trust its certificate. */
  env: NodeJS.ProcessEnv;
  arrivals: Arrival[];
  /** Requests that came to where a redirect leads. */
  redirected: () => number;
  /** Before the server. */
  link: FaultProxy;
  /** Which its addresses have. */
  name: TurningName;
  /** Takes webhooks with this path that were signed with this secret. */
  expect: (path: string, secret: string) => void;
  behave: (behaviour: Behaviour) => void;
  /** Connections and requests that came so far. */
  met: () => number;
  close: () => Promise<void>;
}

interface Behaving {
  /** Whether the sender has to count it as delivered. */
  isTaken: boolean;
  answer: (res: ServerResponse, inward: string) => void;
}

const turnsAway = (answer: Behaving['answer']): Behaving => ({ isTaken: false, answer });
const takes = (answer: Behaving['answer']): Behaving => ({ isTaken: true, answer });

const behaviours = {
  'take webhooks': takes((res) => res.writeHead(204).end()),
  'never answer': turnsAway(() => undefined),
  'answer 500': turnsAway((res) => res.writeHead(500).end()),
  'answer 410': turnsAway((res) => res.writeHead(410).end()),
  'redirect inward': turnsAway((res, location) => res.writeHead(307, { location }).end()),
  'drip the head of an answer': turnsAway((res) => {
    res.socket?.write('HTTP/1.1 200 OK\r\n');
    drip(res, () => void res.socket?.write('x-drip: 1\r\n'));
  }),
  'drip the body of an answer': takes((res) => {
    res.writeHead(200);
    drip(res, () => void res.write('.'));
  }),
  'send a body without end': takes((res) => {
    res.writeHead(200);
    const more = () => {
      while (!res.destroyed && res.write(Buffer.alloc(64 * 1024)));
    };
    res.on('drain', more);
    more();
  }),
  'send 100 Continue again and again': turnsAway((res) => drip(res, () => res.writeContinue())),
  'close in the middle of an answer': turnsAway((res) => {
    res.socket?.write('HTTP/1.1 200 OK\r\ncontent-le');
    res.socket?.destroySoon();
  }),
  'show the certificate of another authority': takes((res) => res.writeHead(204).end()),
} satisfies Record<string, Behaving>;

/** Every one but the ordinary one is a fault. */
export const failingBehaviours = (Object.keys(behaviours) as Behaviour[]).filter((name) => name !== 'take webhooks');

const HOST = 'receivers.faults.test';

export async function startReceiver(random: () => number): Promise<Receiver> {
  const folder = mkdtempSync(join(tmpdir(), 'vision-receiver-'));
  const [own, other] = [makeCertificates(join(folder, 'own'), HOST), makeCertificates(join(folder, 'other'), HOST)];
  const secrets = new Map<string, string>();
  const arrivals: Arrival[] = [];
  let behaviour: Behaviour = 'take webhooks';
  let met = 0;
  let redirected = 0;
  const inner = createHttpServer((_req, res) => {
    redirected += 1;
    res.end();
  });
  const inward = `http://127.0.0.1:${await listen(inner)}/`;
  const receive = async (req: IncomingMessage, res: ServerResponse) => {
    const { isTaken, answer } = behaviours[behaviour];
    const body = await bodyOf(req);
    const path = req.url ?? '';
    const verified = verify(body, req, secrets.get(path));
    const outcome = verified === 'holds' ? (isTaken ? 'taken' : 'turned away') : verified;
    arrivals.push({ path, eventId: String(req.headers['webhook-id']), body, at: Date.now(), outcome });
    if (verified === 'holds') answer(res, inward);
    else res.writeHead(400).end();
  };
  const server = createServer(filesOf(own.server), (req, res) => {
    met += 1;
    // A process that dies in the middle of a request.
    receive(req, res).catch(() => res.destroy());
  });
  server.on('tlsClientError', () => (met += 1));
  const link = await startFaultProxy({ host: '127.0.0.1', port: await listen(server) }, random);
  const name = await startTurningName(HOST, link.port);
  return {
    url: `https://${HOST}:${link.port}`,
    env: { WEBHOOK_CA_FILE: own.ca, ...name.env },
    arrivals,
    redirected: () => redirected,
    link,
    name,
    expect: (path, secret) => void secrets.set(path, secret),
    behave: (next) => {
      behaviour = next;
      const isForeign = next === 'show the certificate of another authority';
      server.setSecureContext(filesOf(isForeign ? other.server : own.server));
    },
    met: () => met,
    close: async () => {
      await Promise.all([link.close(), name.close()]);
      for (const one of [server, inner]) {
        one.closeAllConnections();
        await new Promise((resolve) => one.close(resolve));
      }
      rmSync(folder, { recursive: true });
    },
  };
}

const filesOf = ({ cert, key }: { cert: string; key: string }) => ({
  cert: readFileSync(cert),
  key: readFileSync(key),
});

async function listen(server: ReturnType<typeof createHttpServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** As a receiver does it, with the client of the service. */
function verify(body: string, req: IncomingMessage, secret = ''): 'holds' | 'stale' | 'altered' {
  try {
    verifyWebhook(body, req.headers, secret);
    return 'holds';
  } catch (error) {
    return /timestamp too/.test((error as Error).message) ? 'stale' : 'altered';
  }
}

/** Goes on until the other side has closed the connection. */
function drip(res: ServerResponse, write: () => void): void {
  const timer = setInterval(write, 100);
  res.socket?.once('close', () => clearInterval(timer));
}
