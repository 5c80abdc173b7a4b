import { Duplex } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createBudget } from '@vision/streams/budget';
import { createChunkReader } from './chunk-reader.ts';
import { createRtmpConnection } from './rtmp-connection.ts';
import { MESSAGE, formatRtmp } from './rtmp-message.ts';

const message = (type: number, payload: Buffer) => formatRtmp(2, { type, streamId: 0, payload });

/** What a connection answers to one piece of bytes that came at once. */
async function answersTo(piece: Buffer): Promise<number[]> {
  const written: Buffer[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) => {
      written.push(bytes);
      done();
    },
  });
  socket.push(piece);
  socket.push(null);
  const budget = createBudget({ signal: new AbortController().signal });
  for await (const _event of createRtmpConnection(socket, budget).events) continue;
  return createChunkReader()(Buffer.concat(written)).map(({ type }) => type);
}

test('a window that comes together with more than it allows is acknowledged', async () => {
  const window = message(MESSAGE.windowAckSize, Buffer.from([0, 1, 0, 0]));
  const sound = message(MESSAGE.audio, Buffer.alloc(100_000));
  expect(await answersTo(Buffer.concat([window, sound]))).toEqual([MESSAGE.acknowledgement]);
});
