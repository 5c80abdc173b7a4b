/** The structure of the file asks a decoder for more than a video needs. The message names the box. */
export class Mp4RefusedError extends Error {
  override readonly name = 'Mp4RefusedError';
}

export interface Box {
  type: string;
  /** With its header; cut to what is there when the file breaks off. */
  bytes: number;
  headerBytes: number;
}

/** Bytes that hold the longest header. */
export const HEADER_BYTES = 16;

/** Undefined when no whole header is there. `room` is what is left of the file or of the box around this one. */
export function readHeader(bytes: Buffer, room: number): Box | undefined {
  if (bytes.length < 8) return undefined;
  const type = bytes.toString('latin1', 4, 8);
  const short = bytes.readUInt32BE(0);
  if (short === 0) return { type, bytes: room, headerBytes: 8 };
  if (short !== 1) {
    if (short < 8) throw new Mp4RefusedError(`${nameOf(type)} is smaller than its header`);
    return { type, bytes: short, headerBytes: 8 };
  }
  if (bytes.length < HEADER_BYTES) return undefined;
  const long = bytes.readBigUInt64BE(8);
  if (long < 16n || long > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new Mp4RefusedError(`${nameOf(type)} has an impossible size`);
  }
  return { type, bytes: Number(long), headerBytes: HEADER_BYTES };
}

/** A type as a log line may show it: four plain characters, or their bytes. */
export function nameOf(type: string): string {
  return /^[\w -]{4}$/.test(type) ? `'${type}'` : `0x${Buffer.from(type, 'latin1').toString('hex')}`;
}

/** The boxes that stand beside each other in `data`. @throws Mp4RefusedError when one reaches beyond the end */
export function* boxesIn(data: Buffer, parent: string): Generator<{ type: string; data: Buffer }, void> {
  for (let at = 0; at + 8 <= data.length;) {
    const box = readHeader(data.subarray(at, at + HEADER_BYTES), data.length - at);
    if (!box) return;
    const end = at + box.bytes;
    // A decoder would go on reading behind the box around it.
    if (end > data.length) throw new Mp4RefusedError(`${nameOf(box.type)} is larger than ${nameOf(parent)} around it`);
    yield { type: box.type, data: data.subarray(at + box.headerBytes, end) };
    at = end;
  }
}
