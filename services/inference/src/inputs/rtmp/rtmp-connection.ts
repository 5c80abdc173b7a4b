import type { Duplex } from 'node:stream';
import { SourceError } from '@vision/streams/source-error';
import type { Budget } from '@vision/streams/budget';
import { createByteReader, shakeHands } from '@vision/streams/rtmp-handshake';
import { readAmf, writeAmf } from './amf0.ts';
import type { AmfValue } from './amf0.ts';
import { createChunkReader } from './chunk-reader.ts';
import { MESSAGE, formatRtmp } from './rtmp-message.ts';
import type { RtmpMessage } from './rtmp-message.ts';

/** What a server says that concerns the stream; what keeps the connection alive is answered here. */
export type RtmpEvent =
  | { kind: 'command'; name: string; transaction: number; values: AmfValue[] }
  | { kind: 'video'; timestamp: number; body: Buffer };

export interface RtmpConnection {
  /** Exchanges the first bytes. @throws SourceError `unreadable` for what is no RTMP, `connection_failed` */
  shakeHands: () => Promise<void>;
  /** Everything that is said, until the server closes. @throws SourceError */
  events: AsyncGenerator<RtmpEvent, void>;
  command: (streamId: number, values: readonly AmfValue[]) => void;
  /** Asks for so much of the stream ahead. */
  setBuffer: (streamId: number, lengthMs: number) => void;
}

const WINDOW_BYTES = 2_500_000;
const MAX_UNSENT_BYTES = 65_536;
const CHUNK_STREAM = { control: 2, command: 3, play: 8 };
const USER_CONTROL = { streamEnd: 1, setBuffer: 3, ping: 6, pong: 7 };

export function createRtmpConnection(socket: Duplex, budget: Budget): RtmpConnection {
  const bytes = createByteReader(socket);
  let [received, acknowledged] = [0, 0];
  let windowBytes = WINDOW_BYTES;

  const write = (data: Buffer) => {
    // A server that does not read the answers it asked for is not waited for.
    if (socket.writableLength > MAX_UNSENT_BYTES) throw new SourceError('connection_failed');
    if (socket.writable) socket.write(data);
  };
  const control = (type: number, payload: Buffer) =>
    write(formatRtmp(CHUNK_STREAM.control, { type, streamId: 0, payload }));

  /** Tells how much came, each time half of what the server sends without hearing of it. */
  const acknowledge = () => {
    if (received - acknowledged < windowBytes / 2) return;
    acknowledged = received;
    control(MESSAGE.acknowledgement, uint32(received % 2 ** 32));
  };

  const answer = ({ type, payload }: RtmpMessage): void => {
    if (type === MESSAGE.windowAckSize && payload.length === 4) {
      windowBytes = Math.max(65_536, payload.readUInt32BE());
      // The server may have filled the window already, and wait.
      acknowledge();
    }
    if (type === MESSAGE.setPeerBandwidth) control(MESSAGE.windowAckSize, uint32(WINDOW_BYTES));
    const isPing = type === MESSAGE.userControl && payload.length === 6 && payload.readUInt16BE() === USER_CONTROL.ping;
    if (isPing) control(MESSAGE.userControl, Buffer.concat([Buffer.of(0, USER_CONTROL.pong), payload.subarray(2)]));
  };

  async function* events(): AsyncGenerator<RtmpEvent, void> {
    const read = createChunkReader(() => budget.spend({ parts: 1 }));
    for await (const chunk of bytes.rest()) {
      received += chunk.length;
      acknowledge();
      budget.spend({ bytes: chunk.length, parts: 1 });
      for (const message of read(chunk)) {
        answer(message);
        yield* countedEvents(message, budget);
      }
      await budget.ready();
    }
  }

  return {
    shakeHands: () => shakeHands(bytes, write),
    events: events(),
    command: (streamId, values) => {
      const chunkStream = streamId === 0 ? CHUNK_STREAM.command : CHUNK_STREAM.play;
      write(formatRtmp(chunkStream, { type: MESSAGE.command, streamId, payload: writeAmf(values) }));
    },
    setBuffer: (streamId, lengthMs) =>
      control(
        MESSAGE.userControl,
        Buffer.concat([Buffer.of(0, USER_CONTROL.setBuffer), uint32(streamId), uint32(lengthMs)]),
      ),
  };
}

function eventsOf({ type, timestamp, payload }: RtmpMessage): RtmpEvent[] {
  if (type === MESSAGE.video) return [{ kind: 'video', timestamp, body: payload }];
  if (type === MESSAGE.aggregate) return videosOf(payload, timestamp);
  if (type === MESSAGE.command) return [commandOf(payload)];
  // The other format begins with a byte that says that this one is used.
  return type === MESSAGE.command3 ? [commandOf(payload.subarray(1))] : [];
}

/** A command may hold a thousand values and comes once in a while. */
const COMMAND_PARTS = 100;

function countedEvents(message: RtmpMessage, budget: Budget): RtmpEvent[] {
  const events = eventsOf(message);
  for (const { kind } of events) budget.spend({ parts: kind === 'command' ? COMMAND_PARTS : 1 });
  return events;
}

function commandOf(payload: Buffer): RtmpEvent {
  const [name, transaction, ...values] = readAmf(payload);
  if (typeof name !== 'string' || typeof transaction !== 'number') throw new SourceError('unreadable');
  return { kind: 'command', name, transaction, values };
}

const TAG_HEAD = 11;
const TAG_TAIL = 4;
/** Servers put some hundred milliseconds of sound and video into one message. */
const MAX_TAGS = 1024;

/** The video of an aggregate message: FLV tags, whose times count from that of the first one. */
function videosOf(payload: Buffer, timestamp: number): RtmpEvent[] {
  const videos: RtmpEvent[] = [];
  let first: number | undefined;
  let tags = 0;
  for (let at = 0; at + TAG_HEAD <= payload.length;) {
    const end = at + TAG_HEAD + payload.readUIntBE(at + 1, 3);
    tags += 1;
    if (tags > MAX_TAGS || end > payload.length) throw new SourceError('unreadable');
    const time = payload.readUIntBE(at + 4, 3) + (payload[at + 7] ?? 0) * 2 ** 24;
    first ??= time;
    const shifted = (timestamp + time - first + 2 ** 32) % 2 ** 32;
    if (payload[at] === MESSAGE.video) {
      videos.push({ kind: 'video', timestamp: shifted, body: payload.subarray(at + TAG_HEAD, end) });
    }
    at = end + TAG_TAIL;
  }
  return videos;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
