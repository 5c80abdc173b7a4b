interface ImageSize {
  width: number;
  height: number;
}

/** Kinds of messages between the service and a process that decodes pictures. */
export const kinds = {
  /** To the process: what `orderPayload` makes, and the bytes of a picture. */
  picture: 1,
  /** From the process, before pixels: the size of the picture as a person sees it. */
  size: 3,
  /** From the process, before pixels and refusals: processor time of the picture, a 32-bit number of milliseconds. */
  spent: 6,
  /** From the process: the scaled pixels. */
  pixels: 4,
  /** From the process: the reason why it was refused. The exchange is over. */
  refused: 5,
} as const;

export interface Frame {
  kind: number;
  payload: Buffer;
}

const HEADER_BYTES = 8;

/** Kind and length, 32 bits each, before the payload. */
export function frameHeader(kind: number, length: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(kind, 0);
  header.writeUInt32LE(length, 4);
  return header;
}

export function sizePayload({ width, height }: ImageSize): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32LE(width, 0);
  payload.writeUInt32LE(height, 4);
  return payload;
}

/**
 * What is asked of the process: the size that was read from the structure of the picture, and to what it is scaled as
 * it lies and when its orientation turns it by a quarter.
 */
export interface Order {
  judged: ImageSize;
  upright: ImageSize;
  turned: ImageSize;
}

export const ORDER_BYTES = 24;

export function orderPayload({ judged, upright, turned }: Order): Buffer {
  return Buffer.concat([judged, upright, turned].map(sizePayload));
}

export function readOrder(payload: Buffer): Order {
  const [judged, upright, turned] = [0, 8, 16].map((at) => readSize(payload.subarray(at, at + 8)));
  if (!judged || !upright || !turned) throw new Error('an order has three sizes');
  return { judged, upright, turned };
}

export function timePayload(ms: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32LE(Math.max(0, Math.round(ms)), 0);
  return payload;
}

export function readTime(payload: Buffer): number {
  if (payload.length !== 4) throw new Error('a time has 4 bytes');
  return payload.readUInt32LE(0);
}

export function readSize(payload: Buffer): ImageSize {
  if (payload.length !== 8) throw new Error('a size has 8 bytes');
  return { width: payload.readUInt32LE(0), height: payload.readUInt32LE(4) };
}

/**
 * Takes frames out of a stream of bytes. A payload longer than `maxBytes` is an error: the other side is not trusted to
 * say how much memory it needs.
 */
export function createFrameReader(maxBytes: number, onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let filled = 0;
  let payload: Buffer | undefined;
  return (chunk) => {
    for (let at = 0; at < chunk.length || (payload && filled === payload.length);) {
      if (!payload) {
        const taken = chunk.copy(header, filled, at, at + HEADER_BYTES - filled);
        at += taken;
        filled += taken;
        if (filled < HEADER_BYTES) return;
        const length = header.readUInt32LE(4);
        if (length > maxBytes) throw new Error(`a message of ${length} bytes, ${maxBytes} at most`);
        payload = Buffer.allocUnsafeSlow(length);
        filled = 0;
      } else {
        const taken = chunk.copy(payload, filled, at);
        at += taken;
        filled += taken;
      }
      if (filled < payload.length) continue;
      const frame = { kind: header.readUInt32LE(0), payload };
      payload = undefined;
      filled = 0;
      onFrame(frame);
    }
  };
}
