/** One message between the service and a program in the sandbox. */
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
