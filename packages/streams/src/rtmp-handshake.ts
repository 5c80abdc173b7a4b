import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { SourceError } from './source-error.ts';

/** First a fixed number of bytes at a time, then bytes as they arrive. */
export interface ByteReader {
  /** @throws SourceError `connection_failed` when the peer closes before */
  take: (length: number) => Promise<Buffer>;
  rest: () => AsyncGenerator<Buffer, void>;
}

const VERSION = 3;
const HELLO_BYTES = 1536;

/**
 * The handshake of RTMP (Adobe RTMP 1.0, section 5.2) from the side of the client.
 * @throws SourceError `unreadable` for what is no RTMP, `connection_failed`
 */
export async function shakeHands({ take }: ByteReader, write: (bytes: Buffer) => void): Promise<void> {
  const hello = randomBytes(HELLO_BYTES);
  // A time and a version of zero: no digests, the handshake of the specification.
  hello.fill(0, 0, 8);
  write(Buffer.concat([Buffer.of(VERSION), hello]));
  if ((await take(1))[0] !== VERSION) throw new SourceError('unreadable');
  write(Buffer.from(await take(HELLO_BYTES)));
  await take(HELLO_BYTES);
}

export function createByteReader(socket: Duplex): ByteReader {
  const chunks = socket.iterator() as AsyncGenerator<Buffer, void>;
  let waiting: Buffer = Buffer.alloc(0);
  return {
    take: async (length: number): Promise<Buffer> => {
      while (waiting.length < length) {
        const { value: chunk } = await chunks.next();
        if (!chunk) throw new SourceError('connection_failed');
        waiting = Buffer.concat([waiting, chunk]);
      }
      const taken = waiting.subarray(0, length);
      waiting = waiting.subarray(length);
      return taken;
    },
    rest: async function* (): AsyncGenerator<Buffer, void> {
      yield waiting;
      yield* chunks;
    },
  };
}
