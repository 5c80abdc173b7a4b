import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The end of a connection whose other side waits with each piece until the one before was read. */
export interface FedSocket {
  socket: Socket;
  /** Resolves when the reader has read the piece and asks for more. @throws when it reads no more */
  feed: (piece: Buffer) => Promise<void>;
  /** The other side closes. */
  close: () => void;
}

export function createFedSocket(): FedSocket {
  let sent = Promise.withResolvers<Buffer | undefined>();
  let read = Promise.withResolvers<void>();
  let isOver = false;

  const close = () => {
    isOver = true;
    sent.resolve(undefined);
    read.reject(new Error('no more is read'));
  };
  async function* pieces(): AsyncGenerator<Buffer, void> {
    try {
      for (let piece = await sent.promise; piece; piece = await sent.promise) {
        sent = Promise.withResolvers();
        yield piece;
        read.resolve();
      }
    } finally {
      close();
    }
  }
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  // A stream asks for more when a piece is taken from it, and not when that piece was read.
  Object.assign(stream, { iterator: pieces, [Symbol.asyncIterator]: pieces });
  const feed = (piece: Buffer) => {
    read = Promise.withResolvers();
    if (isOver) read.reject(new Error('no more is read'));
    else sent.resolve(piece);
    return read.promise;
  };
  // Conversations only read, write and close, which every duplex stream can.
  const socket: unknown = stream;
  return { socket: socket as Socket, feed, close };
}

/**
 * Has a conversation read what is fed to it.
 * @returns what feeds it one piece
 */
export function converse(talk: (socket: Socket) => Promise<void>, stop: AbortSignal): (piece: Buffer) => Promise<void> {
  const { socket, feed, close } = createFedSocket();
  const end = () => {
    close();
    socket.destroy();
  };
  stop.addEventListener('abort', end, { once: true });
  // What it fails with shows in the checks of single inputs; here it reads no more.
  talk(socket).then(end, end);
  return feed;
}
