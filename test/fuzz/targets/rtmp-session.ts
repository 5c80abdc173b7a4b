import assert from 'node:assert/strict';
import { SourceError } from '../../../services/inference/src/domain/source-error.ts';
import { createBudget } from '../../../services/inference/src/inputs/budget.ts';
import { createRtmpConnection } from '../../../services/inference/src/inputs/rtmp/rtmp-connection.ts';
import { packedVideo, playStream } from '../../../services/inference/src/inputs/rtmp/rtmp-session.ts';
import { checkVideo } from '../matroska-check.ts';
import { attemptLater, piecesOf } from '../properties.ts';
import { createSayingSocket } from '../saying-socket.ts';
import type { FuzzTarget } from '../target.ts';

const HELLO = Buffer.alloc(1 + 2 * 1536, 3);

/** A whole conversation with a hostile RTMP server, after the exchange of first bytes. */
export const target: FuzzTarget = {
  maxBytes: 8192,
  check: async (input) => {
    const { socket } = createSayingSocket([HELLO, ...piecesOf(input)]);
    const budget = createBudget({ signal: new AbortController().signal });
    const connection = createRtmpConnection(socket, budget);
    const parts: Buffer[] = [];
    await attemptLater(
      async () => {
        const place = { authority: 'camera.example.org', app: 'live', stream: 'yard' };
        await playStream(connection, place, { answerTimeoutMs: 10_000, giveUp: () => socket.destroy() });
        for await (const part of packedVideo(connection, budget)) parts.push(part);
      },
      { by: SourceError },
    );
    checkVideo(parts, [input]);
    assert.ok(parts.length <= input.length + 1);
    socket.destroy();
  },
};
