import type { Socket } from 'node:net';
import type { AddressFault } from '@vision/shared/net/address-error';
import type { StreamUrl } from '@vision/streams/stream-url';
import { connectTcp } from '@vision/streams/tcp-connect';

export type ProbeFault =
  | AddressFault
  | 'connect_failed'
  | 'tls_invalid'
  | 'timeout'
  | 'connection_lost'
  | 'redirected'
  | 'refused'
  | 'not_a_stream';

/** An unreachable stream. `fault` is for metrics and logs; callers get the same answer for all faults. */
export class ProbeError extends Error {
  override readonly name = 'ProbeError';
  readonly fault: ProbeFault;

  constructor(fault: ProbeFault) {
    super(`probe failed: ${fault}`);
    this.fault = fault;
  }
}

/** One handshake with one address that passed the address rules. */
export interface ProbeTarget {
  url: StreamUrl;
  address: string;
  connectMs: number;
  signal: AbortSignal;
  /** Trusted certificates, instead of the system's. */
  ca?: string | undefined;
}

/** A connection to the checked address. The probe closes it. @throws ProbeError `connect_failed` */
export async function connectTo({ url, address, connectMs, signal }: ProbeTarget): Promise<Socket> {
  try {
    return await connectTcp({ address, port: url.port, openTimeoutMs: connectMs, signal });
  } catch {
    throw new ProbeError('connect_failed');
  }
}

/** Runs one conversation and always closes its connection. */
export async function withConnection<T>(target: ProbeTarget, talk: (socket: Socket) => Promise<T>): Promise<T> {
  const socket = await connectTo(target);
  const end = () => void socket.destroy();
  target.signal.addEventListener('abort', end, { once: true });
  try {
    return await talk(socket);
  } finally {
    target.signal.removeEventListener('abort', end);
    end();
  }
}
