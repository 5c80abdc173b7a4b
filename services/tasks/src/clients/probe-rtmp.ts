import { createByteReader, shakeHands } from '@vision/streams/rtmp-handshake';
import { withConnection } from './probe-target.ts';
import type { ProbeTarget } from './probe-target.ts';

/** RTMP: the handshake that begins every session of the reader. */
export async function probeRtmp(target: ProbeTarget): Promise<void> {
  await withConnection(target, (socket) => shakeHands(createByteReader(socket), (bytes) => void socket.write(bytes)));
}
