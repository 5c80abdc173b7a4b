import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { SourceError } from '@vision/streams/source-error';
import { createBudget } from '@vision/streams/budget';
import { createRtmpConnection } from '../../../services/inference/src/inputs/rtmp/rtmp-connection.ts';
import { packedVideo, playStream } from '../../../services/inference/src/inputs/rtmp/rtmp-session.ts';
import { checkVideo } from '../matroska-check.ts';
import { attemptLater, piecesOf } from '../properties.ts';
import { converse } from '../fed-socket.ts';
import { patientClock } from '../patient-clock.ts';
import { createSayingSocket } from '../saying-socket.ts';
import type { FuzzTarget } from '../target.ts';

const place = { authority: 'camera.example.org', app: 'live', stream: 'yard' };
const HELLO = Buffer.alloc(1 + 2 * 1536, 3);

/** A whole conversation with a hostile RTMP server, after the exchange of first bytes. */
export const target: FuzzTarget = {
  maxBytes: 8192,
  bulk: { kind: 'stream', mostMs: 2000, open: openBulk },
  check: async (input) => {
    const { socket } = createSayingSocket([HELLO, ...piecesOf(input)]);
    const parts: Buffer[] = [];
    await attemptLater(() => watch(socket, (part) => parts.push(part)), { by: SourceError });
    checkVideo(parts, [input]);
    assert.ok(parts.length <= input.length + 1);
    socket.destroy();
  },
};

async function watch(socket: Socket, onPart: (part: Buffer) => void): Promise<void> {
  const budget = createBudget({ signal: new AbortController().signal, clock: patientClock() });
  const connection = createRtmpConnection(socket, budget);
  await playStream(connection, place, { answerTimeoutMs: 10_000, giveUp: () => socket.destroy() });
  for await (const part of packedVideo(connection, budget)) onPart(part);
}

/** The exchange of first bytes comes once, before all pieces. */
function openBulk(stop: AbortSignal): (piece: Buffer) => Promise<void> {
  const feed = converse((socket) => watch(socket, () => undefined), stop);
  let isGreeted = false;
  return async (piece) => {
    if (!isGreeted) await feed(HELLO);
    isGreeted = true;
    await feed(piece);
  };
}
