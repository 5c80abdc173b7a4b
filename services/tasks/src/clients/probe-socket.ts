import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { AddressFault } from '@vision/shared/net/address-error';
import type { StreamUrl } from '@vision/streams/stream-url';

export type ProbeFault =
  | AddressFault
  | 'connect_failed'
  | 'tls_invalid'
  | 'timeout'
  | 'connection_lost'
  | 'redirected'
  | 'refused'
  | 'not_a_stream';

/** A stream that cannot be reached; `fault` is for metrics and logs, callers get the same answer for all of them. */
export class ProbeError extends Error {
  override readonly name = 'ProbeError';
  readonly fault: ProbeFault;

  constructor(fault: ProbeFault, cause?: unknown) {
    super(`probe failed: ${fault}`, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

/** One handshake with one address, which passed the address rules. */
export interface ProbeTarget {
  url: StreamUrl;
  address: string;
  connectMs: number;
  signal: AbortSignal;
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined;
}

export interface ProbeSocket {
  send: (bytes: Uint8Array | string) => void;
  /**
   * Reads until `enough` gives something for what has arrived.
   * @throws ProbeError when the peer closes or talks too much.
   */
  read: <T>(enough: (received: Buffer) => T | undefined) => Promise<T>;
  /** Drops what has arrived so far, except the bytes from `offset` on. */
  drop: (offset: number) => void;
}

const MAX_BYTES = 64 * 1024;

/** Runs one conversation over TCP and always closes the socket. */
export async function withSocket<T>(
  { address, port, connectMs, signal }: { address: string; port: number; connectMs: number; signal: AbortSignal },
  talk: (socket: ProbeSocket) => Promise<T>,
): Promise<T> {
  const socket = connect({ host: address, port, noDelay: true });
  const onAbort = () => socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await connected(socket, connectMs);
    return await talk(conversation(socket));
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.on('error', () => undefined);
    socket.destroy();
  }
}

function connected(socket: Socket, connectMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new ProbeError('connect_failed')), connectMs);
    const settle = (act: () => void) => {
      clearTimeout(timer);
      socket.off('connect', onConnect).off('error', onError);
      act();
    };
    const onConnect = () => settle(resolve);
    const onError = (error: Error) =>
      settle(() => reject(error instanceof ProbeError ? error : new ProbeError('connect_failed', error)));
    socket.on('connect', onConnect).on('error', onError);
  });
}

function conversation(socket: Socket): ProbeSocket {
  let received = Buffer.alloc(0);
  let broken: Error | undefined;
  let look: () => void = () => undefined;
  const breakWith = (error: Error) => {
    broken ??= error;
    look();
  };
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.length > MAX_BYTES) breakWith(new ProbeError('not_a_stream'));
    look();
  });
  socket.on('error', (error) =>
    breakWith(error instanceof ProbeError ? error : new ProbeError('connection_lost', error)),
  );
  socket.on('close', () => breakWith(new ProbeError('connection_lost')));
  return {
    send: (bytes) => void socket.write(bytes),
    drop: (offset) => {
      received = received.subarray(offset);
    },
    read: (enough) =>
      new Promise((resolve, reject) => {
        look = () => {
          const found = attempt(() => enough(received));
          if (found instanceof Error) reject(found);
          else if (found !== undefined) resolve(found);
          else if (broken) reject(broken);
        };
        look();
      }),
  };
}

function attempt<T>(fn: () => T): T | Error {
  try {
    return fn();
  } catch (error) {
    return error as Error;
  }
}
