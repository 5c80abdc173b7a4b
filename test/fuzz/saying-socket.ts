import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The end of a connection whose other side says so much and closes; `sent` collects what it is told. */
export function createSayingSocket(said: readonly Buffer[]): { socket: Socket; sent: Buffer[] } {
  const sent: Buffer[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      sent.push(chunk);
      done();
    },
  });
  for (const piece of said) stream.push(piece);
  stream.push(null);
  // Conversations only read, write and close, which every duplex stream can.
  const socket: unknown = stream;
  return { socket: socket as Socket, sent };
}
