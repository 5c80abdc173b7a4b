import { SourceError } from '@vision/streams/source-error';
import { createGrowingBuffer } from './growing-buffer.ts';
import { MESSAGE } from './rtmp-message.ts';
import type { RtmpMessage } from './rtmp-message.ts';

const MAX_MESSAGE_BYTES = 8 << 20;
const MAX_UNFINISHED_BYTES = 16 << 20;
const MAX_CHUNK_BYTES = 1 << 20;
const MIN_CHUNK_BYTES = 128;
const MAX_CHUNK_STREAMS = 64;
const EXTENDED = 0xffffff;

/** What one chunk stream said last; later chunks leave out what did not change. */
interface ChunkStream {
  timestamp: number;
  field: number;
  length: number;
  type: number;
  streamId: number;
  message: ReturnType<typeof createGrowingBuffer> | undefined;
}

/** Messages that are read to their end and dropped. */
const UNWANTED: ReadonlySet<number> = new Set([MESSAGE.audio, MESSAGE.data, MESSAGE.data3]);

/**
 * Puts messages together from the chunks of an RTMP connection (Adobe, "RTMP specification 1.0", 5.3),
 * after the handshake.
 *
 * @param onMessage hears of every message, also of those that are dropped; a chunk that ends none has at least 128
 * bytes
 * @throws SourceError `unreadable` for what breaks the rules, and for messages, chunks and numbers of streams
 * beyond any use
 */
export function createChunkReader(onMessage: () => void = () => undefined): (bytes: Buffer) => RtmpMessage[] {
  const assembly = createAssembly(onMessage);
  let rest: Buffer = Buffer.alloc(0);
  let current: { stream: ChunkStream; missing: number } | undefined;

  const takeHeader = (): typeof current => {
    const header = readHeader(rest, assembly.streams);
    if (header === undefined) return undefined;
    rest = rest.subarray(header.size);
    return { stream: header.stream, missing: assembly.begin(header.id, header.stream) };
  };

  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const messages: RtmpMessage[] = [];
    for (current ??= takeHeader(); current !== undefined; current = takeHeader()) {
      const piece = rest.subarray(0, current.missing);
      rest = rest.subarray(piece.length);
      current.missing -= piece.length;
      assembly.add(current.stream, piece);
      if (current.missing > 0) break;
      messages.push(...assembly.finish(current.stream));
    }
    return messages;
  };
}

/** The messages that are being put together, and the rules that the sender may change. */
function createAssembly(onMessage: () => void) {
  const streams = new Map<number, ChunkStream>();
  let chunkBytes = MIN_CHUNK_BYTES;
  let unfinishedBytes = 0;

  /** Follows what concerns the chunks themselves; true for messages that only this reader needs. */
  const obey = ({ type, payload }: RtmpMessage): boolean => {
    if (type === MESSAGE.setChunkSize) {
      const size = payload.length === 4 ? payload.readUInt32BE() : 0;
      if (size < MIN_CHUNK_BYTES || size > MAX_CHUNK_BYTES) throw new SourceError('unreadable');
      chunkBytes = size;
    }
    const aborted = type === MESSAGE.abort && payload.length === 4 ? streams.get(payload.readUInt32BE()) : undefined;
    if (aborted) {
      unfinishedBytes -= aborted.message?.content().length ?? 0;
      aborted.message = undefined;
    }
    return type === MESSAGE.setChunkSize || type === MESSAGE.abort || UNWANTED.has(type);
  };

  return {
    streams,
    /** The bytes of the next chunk. */
    begin: (id: number, stream: ChunkStream): number => {
      stream.message ??= createGrowingBuffer(stream.length);
      streams.set(id, stream);
      if (streams.size > MAX_CHUNK_STREAMS) throw new SourceError('unreadable');
      return Math.min(chunkBytes, stream.message.missing());
    },
    add: (stream: ChunkStream, piece: Buffer) => {
      unfinishedBytes += piece.length;
      if (unfinishedBytes > MAX_UNFINISHED_BYTES) throw new SourceError('unreadable');
      stream.message?.add(piece);
    },
    /** The message that the chunk completed, if it did and it is wanted. */
    finish: (stream: ChunkStream): RtmpMessage[] => {
      const { type, timestamp, streamId, message } = stream;
      if (!message || message.missing() > 0) return [];
      onMessage();
      const whole = { type, timestamp, streamId, payload: message.content() };
      unfinishedBytes -= whole.payload.length;
      stream.message = undefined;
      return obey(whole) ? [] : [whole];
    },
  };
}

/** One chunk header; undefined while it is not all there. */
function readHeader(
  bytes: Buffer,
  streams: ReadonlyMap<number, ChunkStream>,
): { id: number; size: number; stream: ChunkStream } | undefined {
  const [first = 0, second = 0, third = 0] = bytes;
  const format = first >> 6;
  const short = first & 0x3f;
  const start = short === 0 ? 2 : short === 1 ? 3 : 1;
  const fields = [11, 7, 3, 0][format] ?? 0;
  if (bytes.length === 0 || bytes.length < start + fields) return undefined;
  const id = short === 0 ? 64 + second : short === 1 ? 64 + second + third * 256 : short;
  const known = streams.get(id);
  // A message is continued without a header of its own, and a stream begins with a whole one.
  if (known === undefined ? format !== 0 : known.message !== undefined && format !== 3) {
    throw new SourceError('unreadable');
  }
  const field = format === 3 ? (known?.field ?? 0) : bytes.readUIntBE(start, 3);
  const size = start + fields + (field === EXTENDED ? 4 : 0);
  if (bytes.length < size) return undefined;
  const time = field === EXTENDED ? bytes.readUInt32BE(start + fields) : field;
  const stream = {
    ...(known ?? { timestamp: 0, length: 0, type: 0, streamId: 0, message: undefined }),
    field,
  };
  if (format === 0) stream.streamId = bytes.readUInt32LE(start + 7);
  if (format <= 1) {
    stream.length = bytes.readUIntBE(start + 3, 3);
    stream.type = bytes[start + 6] ?? 0;
    if (stream.length > MAX_MESSAGE_BYTES) throw new SourceError('unreadable');
  }
  if (stream.message === undefined) stream.timestamp = (format === 0 ? time : stream.timestamp + time) % 2 ** 32;
  return { id, size, stream };
}
