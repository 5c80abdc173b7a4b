interface ImageSize {
  width: number;
  height: number;
}

/** Kinds of messages between the service and a process that decodes images. */
export const kinds = {
  /** To the process: what `orderPayload` makes, and the bytes of an image. */
  image: 1,
  /** From the process, before pixels: the size of the image as a person sees it. */
  size: 3,
  /** From the process, before pixels and refusals: processor time of the image, a 32-bit number of milliseconds. */
  spent: 6,
  /** From the process: the scaled pixels. */
  pixels: 4,
  /** From the process: the reason why it was refused. The exchange is over. */
  refused: 5,
} as const;

export function sizePayload({ width, height }: ImageSize): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32LE(width, 0);
  payload.writeUInt32LE(height, 4);
  return payload;
}

/**
 * What is asked of the process: the size that was read from the structure of the image, and to what it is scaled as
 * it lies and when its orientation turns it by a quarter.
 */
export interface Order {
  inspected: ImageSize;
  upright: ImageSize;
  turned: ImageSize;
}

export const ORDER_BYTES = 24;

export function orderPayload({ inspected, upright, turned }: Order): Buffer {
  return Buffer.concat([inspected, upright, turned].map(sizePayload));
}

export function readOrder(payload: Buffer): Order {
  const [inspected, upright, turned] = [0, 8, 16].map((at) => readSize(payload.subarray(at, at + 8)));
  if (!inspected || !upright || !turned) throw new Error('an order has three sizes');
  return { inspected, upright, turned };
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
