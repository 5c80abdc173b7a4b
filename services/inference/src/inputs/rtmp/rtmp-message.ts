/** One message of an RTMP connection. */
export interface RtmpMessage {
  type: number;
  /** Milliseconds in 32 bits, which wrap around. */
  timestamp: number;
  streamId: number;
  payload: Buffer;
}

export const MESSAGE = {
  setChunkSize: 1,
  abort: 2,
  userControl: 4,
  windowAckSize: 5,
  setPeerBandwidth: 6,
  audio: 8,
  video: 9,
  data3: 15,
  command3: 17,
  data: 18,
  command: 20,
  aggregate: 22,
  acknowledgement: 3,
} as const;

// What a side may send in a chunk until it says otherwise; we never do.
const CHUNK_BYTES = 128;

/** A message in chunks of the size that holds at the beginning of a connection. Its id is below 64, its time 0. */
export function formatRtmp(chunkStream: number, { type, streamId, payload }: Omit<RtmpMessage, 'timestamp'>): Buffer {
  const head = Buffer.alloc(12);
  head[0] = chunkStream;
  head.writeUIntBE(payload.length, 4, 3);
  head[7] = type;
  head.writeUInt32LE(streamId, 8);
  const pieces: Buffer[] = [head];
  for (let at = 0; at < payload.length; at += CHUNK_BYTES) {
    if (at > 0) pieces.push(Buffer.from([0xc0 | chunkStream]));
    pieces.push(payload.subarray(at, at + CHUNK_BYTES));
  }
  return Buffer.concat(pieces);
}
