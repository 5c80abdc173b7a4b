import { randomBytes } from 'node:crypto';
import type { ProbeTarget } from './probe-socket.ts';
import { ProbeError, withSocket } from './probe-socket.ts';

const VERSION = 3;
const BLOCK_BYTES = 1536;

/** RTMP handshake (Adobe RTMP 1.0, section 5.2): C0 and C1 out, S0 of version 3 and a whole S1 back. */
export async function probeRtmp({ url, address, connectMs, signal }: ProbeTarget): Promise<void> {
  await withSocket({ address, port: url.port, connectMs, signal }, async (socket) => {
    socket.send(Buffer.concat([Buffer.from([VERSION]), Buffer.alloc(8), randomBytes(BLOCK_BYTES - 8)]));
    await socket.read((received) => {
      if (received.length > 0 && received[0] !== VERSION) throw new ProbeError('not_a_stream');
      return received.length >= 1 + BLOCK_BYTES ? true : undefined;
    });
  });
}
