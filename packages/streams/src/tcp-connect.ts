import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { SourceError } from './source-error.ts';

export interface ConnectOptions {
  address: string;
  port: number;
  openTimeoutMs: number;
  /** Nothing is read from it in this process: what comes is for the one that gets the socket. */
  isHandedOver?: boolean;
  signal: AbortSignal;
}

/** A connection to the one address, made within the time. @throws SourceError `timeout`, `connection_failed` */
export async function connectTcp(options: ConnectOptions): Promise<Socket> {
  const { address, port, openTimeoutMs, isHandedOver, signal } = options;
  const socket = connect({ host: address, port, noDelay: true }).on('error', () => undefined);
  if (isHandedOver) socket.pause();
  const timeout = AbortSignal.timeout(openTimeoutMs);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([timeout, signal]) });
    return socket;
  } catch {
    socket.destroy();
    throw new SourceError(timeout.aborted ? 'timeout' : 'connection_failed');
  }
}
