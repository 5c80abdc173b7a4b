import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../domain/client-network.ts';
import type { IsTrusted } from '../domain/client-network.ts';
import { Connection } from './connection.ts';
import type { ConnectionLimits, CutReason } from './connection.ts';
import { noteCut } from './cut-reason.ts';
import { crowdOf } from './crowd.ts';
import { readSendQueues } from './send-queues.ts';

export interface ConnectionWatchOptions extends ConnectionLimits {
  /** Open connections of one client address. */
  perClient: number;
  /** Proxies carry many clients, so the number of their connections is not limited. */
  isTrustedProxy: IsTrusted;
  onCut: (reason: CutReason) => void;
}

const LOOK_EVERY_MS = 1000;

/**
 * Ends connections whose client sends or receives below the minimum pace while it has to act, and those beyond the
 * limit for one address. Silence between requests, and waiting for the service to respond or to read, do not count.
 * Response bytes count as received when the client has acknowledged them, so bytes in the kernel for a client that does
 * not read count against it.
 */
export function watchConnections(server: Server, options: ConnectionWatchOptions): void {
  const open = new Map<Socket, { connection: Connection; network: string | undefined }>();
  const perNetwork = new Map<string, number>();
  const answers = new WeakMap<Socket, ServerResponse>();
  const cut = (socket: Socket, reason: CutReason) => {
    options.onCut(reason);
    noteCut(answers.get(socket), { reason, limitMs: limitOf(reason, options) });
    // A reset frees the bytes that the system still holds for a client that does not read.
    socket.resetAndDestroy();
  };
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? '';
    const network = options.isTrustedProxy(peer) ? undefined : networkOf(peer);
    if (network !== undefined && (perNetwork.get(network) ?? 0) >= options.perClient) {
      cut(socket, 'too_many_connections');
      return;
    }
    if (network !== undefined) perNetwork.set(network, (perNetwork.get(network) ?? 0) + 1);
    open.set(socket, { connection: new Connection(socket, options), network });
    socket.once('close', () => {
      open.delete(socket);
      if (network !== undefined) release(perNetwork, network);
    });
  });
  server.on('request', (req, res) => {
    answers.set(req.socket, res);
    open.get(req.socket)?.connection.begin(req, res);
  });
  server.on('clientError', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') options.onCut('head_timeout');
  });
  // Without a listener Node closes an idle connection after its timeout, even if its client has unread bytes.
  server.on('timeout', (socket: Socket) => socket.destroySoon());
  lookWhileListening(server, Math.min(LOOK_EVERY_MS, options.windowMs / 10), async (now, passedMs) => {
    const queues = await readSendQueues();
    const all = [...open].map(([socket, { connection, network }]) => {
      return { socket, connection, network, queued: queues.get(connection.inode ?? 0) ?? 0 };
    });
    const isCrowded = crowdOf(all);
    for (const { socket, connection, network, queued } of all) {
      const reason = connection.look({ now, passedMs, queued, isCrowded: isCrowded(network) });
      if (reason) cut(socket, reason);
    }
  });
}

function limitOf(reason: CutReason, { windowMs, bodyMs, answerMs }: ConnectionLimits): number | undefined {
  switch (reason) {
    case 'slow_upload':
    case 'slow_reader':
      return windowMs;
    case 'body_timeout':
      return bodyMs;
    case 'answer_timeout':
      return answerMs;
    case 'head_timeout':
    case 'too_many_connections':
    case 'too_many_pipelined':
      return undefined;
  }
}

function release(perNetwork: Map<string, number>, network: string): void {
  const left = (perNetwork.get(network) ?? 1) - 1;
  if (left === 0) perNetwork.delete(network);
  else perNetwork.set(network, left);
}

type LookAtAll = (now: number, passedMs: number) => Promise<void>;

function lookWhileListening(server: Server, everyMs: number, look: LookAtAll): void {
  let timer: NodeJS.Timeout | undefined;
  let lookedAt = 0;
  let isLooking = false;
  server.on('listening', () => {
    lookedAt = performance.now();
    timer = setInterval(() => {
      if (isLooking) return;
      const now = performance.now();
      // A process that was suspended did not read either: that time does not count for clients.
      const passedMs = Math.min(now - lookedAt, 2 * everyMs);
      lookedAt = now;
      isLooking = true;
      void look(now, passedMs).finally(() => (isLooking = false));
    }, everyMs);
  });
  server.on('close', () => clearInterval(timer));
}
