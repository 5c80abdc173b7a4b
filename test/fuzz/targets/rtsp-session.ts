import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { SourceError } from '@vision/streams/source-error';
import { createBudget } from '@vision/streams/budget';
import { createRtspConnection } from '@vision/streams/rtsp-connection';
import type { RtspConnection } from '@vision/streams/rtsp-connection';
import { isGoodbye } from '../../../services/inference/src/inputs/rtsp/rtp-packet.ts';
import { createRtspReader } from '@vision/streams/rtsp-message';
import { startSession } from '../../../services/inference/src/inputs/rtsp/rtsp-session.ts';
import { attemptLater, piecesOf } from '../properties.ts';
import { createSayingSocket } from '../saying-socket.ts';
import { converse } from '../fed-socket.ts';
import { patientClock } from '../patient-clock.ts';
import type { FuzzTarget } from '../target.ts';

const place = { authority: 'camera.example.org:8554', pathAndQuery: '/live?x=1' };
const credentials = { user: 'who', password: 'secret"word' };

/** A whole conversation with a hostile RTSP server: whatever it answers, we ask the one host, in our own words. */
export const target: FuzzTarget = {
  maxBytes: 8192,
  bulk: { kind: 'stream', mostMs: 3000, open: (stop) => converse(watch, stop) },
  check: async (input) => {
    const { socket, sent } = createSayingSocket(piecesOf(input));
    const connection = connect(socket);
    await attemptLater(
      async () => {
        const session = await startSession(connection, place);
        assert.ok(session.keepAliveMs >= 2000 && session.keepAliveMs <= 30_000);
        assert.ok(session.channels.video <= 255 && session.channels.control <= 255);
        session.keepAlive();
        for await (const packet of connection.packets()) assert.ok(packet.bytes.length >= 4);
        session.leave();
      },
      { by: SourceError },
    );
    socket.destroy();
    const requests = createRtspReader()(Buffer.concat(sent));
    for (const request of requests) {
      assert.equal(request.kind, 'message');
      assert.match(
        request.startLine,
        /^([A-Z_]+ rtsp:\/\/camera\.example\.org:8554\/[!-~]* RTSP\/1\.0|RTSP\/1\.0 501 Not Implemented)$/,
      );
      for (const [name, value] of request.headers) {
        assert.match(name, /^(CSeq|User-Agent|Authorization|Accept|Transport|Session|Range)$/);
        assert.doesNotMatch(value, /secret/);
      }
      assert.equal(request.body.length, 0);
    }
  },
};

function connect(socket: Socket): RtspConnection {
  const budget = createBudget({ signal: new AbortController().signal, clock: patientClock() });
  return createRtspConnection(socket, { credentials, answerTimeoutMs: 10_000, budget });
}

/** As the service does, without the pictures, which have a target of their own. */
async function watch(socket: Socket): Promise<void> {
  const connection = connect(socket);
  const session = await startSession(connection, place);
  session.keepAlive();
  for await (const packet of connection.packets()) isGoodbye(packet.bytes.subarray(4));
}
