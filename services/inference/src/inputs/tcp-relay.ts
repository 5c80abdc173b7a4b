import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { SourceError } from '../domain/source-error.ts';

export interface Relay {
  /** On 127.0.0.1. */
  port: number;
  close: () => void;
}

export interface RelayOptions {
  address: string;
  port: number;
  openTimeoutMs: number;
  signal: AbortSignal;
}

/** A connection to the one address, made within the time. @throws SourceError */
export async function connectTo({ address, port, openTimeoutMs, signal }: RelayOptions): Promise<Socket> {
  const socket = connect({ host: address, port, noDelay: true });
  const timeout = AbortSignal.timeout(openTimeoutMs);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([timeout, signal]) });
    return socket;
  } catch {
    socket.on('error', () => undefined).destroy();
    throw new SourceError(timeout.aborted ? 'timeout' : 'connection_failed');
  }
}

/** Listens on a free port of loopback for at most `limit` connections. */
export async function listenOnLoopback(limit: number, onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let left = limit;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    left -= 1;
    if (left <= 0) server.close();
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      if (server.listening) server.close();
      sockets.forEach((socket) => socket.destroy());
    },
  };
}

/**
 * Passes bytes between loopback and one address. Whatever host a protocol names later, there is no way from here to it.
 * The first connection to the address is made at once, so that a dead source shows before ffmpeg starts; one that does
 * not begin to speak is ended after the time for opening.
 */
export async function openRelay(options: RelayOptions & { limit: number }): Promise<Relay> {
  let ready: Socket | undefined = await connectTo(options);
  const upstreams = new Set<Socket>([ready]);
  const join = async (downstream: Socket) => {
    const upstream = ready ?? (await connectTo(options));
    ready = undefined;
    upstreams.add(upstream);
    upstream.setTimeout(options.openTimeoutMs, () => upstream.destroy());
    upstream.once('data', () => upstream.setTimeout(0));
    upstream.on('error', () => undefined);
    upstream.once('close', () => downstream.end());
    downstream.once('close', () => upstream.destroy());
    upstream.pipe(downstream).pipe(upstream);
  };
  const relay = await listenOnLoopback(options.limit, (downstream) => {
    join(downstream).catch(() => downstream.destroy());
  });
  ready.on('error', () => undefined);
  return {
    port: relay.port,
    close: () => {
      relay.close();
      upstreams.forEach((upstream) => upstream.destroy());
    },
  };
}
