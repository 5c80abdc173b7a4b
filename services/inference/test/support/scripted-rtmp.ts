import type { Socket } from 'node:net';
import { readAmf, writeAmf } from '../../src/inputs/rtmp/amf0.ts';
import type { AmfValue } from '../../src/inputs/rtmp/amf0.ts';
import { createChunkReader } from '../../src/inputs/rtmp/chunk-reader.ts';
import { MESSAGE, formatRtmp } from '../../src/inputs/rtmp/rtmp-message.ts';
import type { RtmpMessage } from '../../src/inputs/rtmp/rtmp-message.ts';
import { tcpServer } from './live-servers.ts';

export interface RtmpViewer {
  say: (...values: AmfValue[]) => void;
  /** Any message, with its time. */
  send: (type: number, payload: Buffer, timestamp?: number) => void;
  raw: (bytes: Buffer) => void;
  socket: Socket;
}

/** What the server does when a command comes; commands that are not named are answered as an honest server would. */
export type RtmpScript = Record<string, (viewer: RtmpViewer, values: AmfValue[]) => void>;

export const info = (fields: Record<string, AmfValue>) => new Map(Object.entries(fields));

const HONEST: RtmpScript = {
  connect: (viewer) => viewer.say('_result', 1, null, info({ code: 'NetConnection.Connect.Success' })),
  createStream: (viewer, [, transaction]) => viewer.say('_result', transaction, null, 1),
  play: (viewer) => viewer.say('onStatus', 0, null, info({ level: 'status', code: 'NetStream.Play.Start' })),
};

/** An RTMP server that does what a test wants, and is honest where it wants nothing. */
export async function scriptedRtmp(script: RtmpScript, hello = (): Buffer => Buffer.alloc(1 + 2 * 1536, 3)) {
  const commands: AmfValue[][] = [];
  const others: RtmpMessage[] = [];
  const server = await tcpServer((socket) => {
    const viewer = viewerOf(socket);
    const read = createChunkReader();
    let rest: Buffer = Buffer.alloc(0);
    let left = 1 + 2 * 1536;
    socket.on('data', (chunk: Buffer) => {
      if (left === 1 + 2 * 1536) socket.write(hello());
      rest = chunk.subarray(Math.min(left, chunk.length));
      left -= chunk.length - rest.length;
      for (const message of read(rest)) {
        if (message.type !== MESSAGE.command) {
          others.push(message);
          continue;
        }
        const values = readAmf(message.payload);
        commands.push(values);
        const name = values[0] as string;
        (script[name] ?? HONEST[name])?.(viewer, values);
      }
    });
  });
  return { ...server, commands, others };
}

function viewerOf(socket: Socket): RtmpViewer {
  const send: RtmpViewer['send'] = (type, payload, timestamp = 0) => {
    const bytes = formatRtmp(6, { type, streamId: 1, payload });
    bytes.writeUIntBE(timestamp, 1, 3);
    socket.write(bytes);
  };
  return {
    send,
    say: (...values) => send(MESSAGE.command, writeAmf(values)),
    raw: (bytes) => socket.write(bytes),
    socket,
  };
}
