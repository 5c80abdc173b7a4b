import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { SourceError } from '../domain/source-error.ts';

export interface ConnectOptions {
  address: string;
  port: number;
  openTimeoutMs: number;
  signal: AbortSignal;
}

/**
 * A connection to the one address, made within the time. Nothing is read from it here: it belongs to a reader.
 * @throws SourceError
 */
export async function connectTcp({ address, port, openTimeoutMs, signal }: ConnectOptions): Promise<Socket> {
  const socket = connect({ host: address, port, noDelay: true });
  socket.pause().on('error', () => undefined);
  const timeout = AbortSignal.timeout(openTimeoutMs);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([timeout, signal]) });
    return socket;
  } catch {
    socket.destroy();
    throw new SourceError(timeout.aborted ? 'timeout' : 'connection_failed');
  }
}
