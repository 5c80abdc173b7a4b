import { createByteReader, shakeHands } from '@vision/streams/rtmp-handshake';
import { withConnection } from './probe-target.ts';
import type { ProbeTarget } from './probe-target.ts';

/** RTMP: the handshake, with which every session of the reader begins. */
export async function probeRtmp(target: ProbeTarget): Promise<void> {
  await withConnection(target, (socket) => shakeHands(createByteReader(socket), (bytes) => void socket.write(bytes)));
}
