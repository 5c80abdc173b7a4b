/** Reads `length` bytes at `position`; shorter at the end of the file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** The structure of the file asks a decoder for more than a video needs. */
export class Mp4RefusedError extends Error {
  override readonly name = 'Mp4RefusedError';
}

/** Bytes of one index (`moov`): 24 hours at 60 frames a second need less. */
const MAX_INDEX_BYTES = 96 * 1024 * 1024;
const MAX_TRACKS = 32;
/** Cameras and editors write one or two; each entry makes a decoder seek. */
const MAX_EDITS = 256;
/** Boxes beside each other at one level: a fragmented file has two for each fragment. */
const MAX_BOXES = 100_000;
const MAX_DEPTH = 8;
/** Small boxes stand close together: one read serves the headers of all of them. */
const WINDOW_BYTES = 4096;

/** Boxes whose contents are boxes (ISO/IEC 14496-12). */
const CONTAINERS = new Set(['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl', 'dinf', 'mvex', 'udta']);

/**
 * Bytes of one entry in tables that begin with version, flags and a count of entries (ISO/IEC 14496-12, 8.6 and 8.7).
 */
const TABLES: Record<string, number> = { stts: 8, ctts: 8, stsc: 12, stco: 4, co64: 8, stss: 4 };

/**
 * Judges the structure of an MP4 or MOV file before a decoder sees it: boxes lie within each other, tables hold what
 * they declare, and there are no more tracks, edits and boxes than a video needs. Rotations other than quarter turns
 * are refused, because each frame would be turned pixel by pixel.
 * @throws Mp4RefusedError
 */
export async function judgeMp4(read: ReadAt, fileBytes: number): Promise<void> {
  const readNear = windowed(read);
  let boxes = 0;
  let indexes = 0;
  for (let at = 0; at + 8 <= fileBytes;) {
    boxes += 1;
    if (boxes > MAX_BOXES) throw new Mp4RefusedError('too many boxes');
    const box = readHeader(await readNear(at, 16), fileBytes - at);
    if (!box) return;
    if (box.type === 'moov') {
      indexes += 1;
      if (indexes > 1) throw new Mp4RefusedError('more than one index');
      if (box.bytes > MAX_INDEX_BYTES) throw new Mp4RefusedError('the index is too large');
      judgeIndex(await read(at, box.bytes));
    }
    at += box.bytes;
  }
}

function windowed(read: ReadAt): ReadAt {
  let start = 0;
  let bytes: Buffer = Buffer.alloc(0);
  return async (position, length) => {
    if (position < start || position + length > start + bytes.length) {
      bytes = await read(position, WINDOW_BYTES);
      start = position;
    }
    return bytes.subarray(position - start, position - start + length);
  };
}

interface Box {
  type: string;
  /** With its header; cut to what is there when the file breaks off. */
  bytes: number;
  headerBytes: number;
}

/** Undefined when no whole header is there. */
function readHeader(bytes: Buffer, room: number): Box | undefined {
  if (bytes.length < 8) return undefined;
  const type = bytes.toString('latin1', 4, 8);
  const short = bytes.readUInt32BE(0);
  if (short === 0) return { type, bytes: room, headerBytes: 8 };
  if (short !== 1) {
    if (short < 8) throw new Mp4RefusedError('a box is smaller than its header');
    return { type, bytes: short, headerBytes: 8 };
  }
  if (bytes.length < 16) return undefined;
  const long = bytes.readBigUInt64BE(8);
  if (long < 16n || long > BigInt(Number.MAX_SAFE_INTEGER)) throw new Mp4RefusedError('a box has an impossible size');
  return { type, bytes: Number(long), headerBytes: 16 };
}

function judgeIndex(moov: Buffer): void {
  const seen = { tracks: 0, boxes: 0 };
  const walk = (from: number, end: number, depth: number): void => {
    for (let at = from; at + 8 <= end;) {
      const box = readHeader(moov.subarray(at, at + 16), end - at);
      if (!box) return;
      seen.boxes += 1;
      if (box.type === 'trak') seen.tracks += 1;
      if (seen.tracks > MAX_TRACKS) throw new Mp4RefusedError('too many tracks');
      if (seen.boxes > MAX_BOXES || depth > MAX_DEPTH) throw new Mp4RefusedError('too many boxes');
      const boxEnd = at + box.bytes;
      // A file that was cut off in its index cannot be played; a box that claims more than its parent is a trick.
      if (boxEnd > end) throw new Mp4RefusedError('a box is larger than the one around it');
      judgeBox(box.type, moov.subarray(at + box.headerBytes, boxEnd));
      if (CONTAINERS.has(box.type)) walk(at + box.headerBytes, boxEnd, depth + 1);
      at = boxEnd;
    }
  };
  walk(0, moov.length, 0);
}

function judgeBox(type: string, data: Buffer): void {
  const entryBytes = TABLES[type];
  if (entryBytes !== undefined) judgeTable(data, entryBytes);
  if (type === 'stsz') judgeSampleSizes(data);
  if (type === 'elst') judgeEdits(data);
  if (type === 'tkhd') judgeRotation(data);
}

function judgeTable(data: Buffer, entryBytes: number): void {
  if (data.length < 8 || data.readUInt32BE(4) * entryBytes > data.length - 8) {
    throw new Mp4RefusedError('a table declares more entries than it holds');
  }
}

/** A size for all samples, or a count and a size for each. */
function judgeSampleSizes(data: Buffer): void {
  if (data.length < 12) throw new Mp4RefusedError('a table declares more entries than it holds');
  const sizeOfAll = data.readUInt32BE(4);
  const count = data.readUInt32BE(8);
  if (sizeOfAll === 0 && count * 4 > data.length - 12) {
    throw new Mp4RefusedError('a table declares more entries than it holds');
  }
}

function judgeEdits(data: Buffer): void {
  if (data.length < 8) throw new Mp4RefusedError('an edit list is incomplete');
  if (data.readUInt32BE(4) > MAX_EDITS) throw new Mp4RefusedError('too many edits');
}

/** Offset of the matrix in a track header: version 0 has 32-bit times, version 1 has 64-bit ones. */
const matrixOffset = (version: number) => (version === 1 ? 52 : 40);
const ONE = 0x10000;

function judgeRotation(data: Buffer): void {
  const at = matrixOffset(data[0] ?? 0);
  if (data.length < at + 36) throw new Mp4RefusedError('a track header is incomplete');
  const [a, b, , c, d] = Array.from({ length: 5 }, (_, index) => data.readInt32BE(at + 4 * index)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const isUnit = (value: number) => Math.abs(value) === ONE;
  const isUpright = b === 0 && c === 0 && isUnit(a) && isUnit(d);
  const isTurned = a === 0 && d === 0 && isUnit(b) && isUnit(c);
  const isAbsent = a === 0 && b === 0 && c === 0 && d === 0;
  if (!isUpright && !isTurned && !isAbsent) throw new Mp4RefusedError('an odd rotation');
}
