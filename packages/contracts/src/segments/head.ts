import { ByteReader, ByteWriter, SegmentDamagedError } from './bytes.ts';
import { pack, unpack } from './pack.ts';
import type { Effort } from './pack.ts';

/** What of a frame is known without its objects: enough to tell whether another frame is the same one. */
export interface FrameHead {
  seq: number;
  position: number;
  attempt: number;
  frameTimeMs: number;
  width: number;
  height: number;
  /** How many objects it has. */
  objects: number;
}

/** The order in which they are stored. One reader for each keeps them fast: a name that varies is looked up. */
const COLUMNS: readonly ((head: FrameHead) => number)[] = [
  ({ seq }) => seq,
  ({ position }) => position,
  ({ attempt }) => attempt,
  ({ frameTimeMs }) => frameTimeMs,
  ({ width }) => width,
  ({ height }) => height,
  ({ objects }) => objects,
];

/** Numbers are stored as what they are larger than the one before, or as they are. */
const DIFFERENCES = 0;
const VALUES = 1;

/** The heads of the frames of one segment as bytes, column by column; about two bytes a frame. */
export function encodeHeads(heads: readonly FrameHead[], effort: Effort): Buffer {
  const out = new ByteWriter();
  out.unsigned(heads.length);
  const values = new Float64Array(heads.length);
  for (const columnOf of COLUMNS) {
    heads.forEach((head, at) => {
      values[at] = columnOf(head);
    });
    writeColumn(out, values);
  }
  return pack(out.written(), effort);
}

/** Writes whole numbers, one of each frame; `readColumn` reads them again. */
export function writeColumn(out: ByteWriter, values: Float64Array): void {
  const areExact = haveDifferences(values);
  out.byte(areExact ? DIFFERENCES : VALUES);
  let before = 0;
  for (const value of values) {
    out.signed(value - before);
    if (areExact) before = value;
  }
}

/** Whether every number differs from the one before by a number that is exact. */
function haveDifferences(values: Float64Array): boolean {
  let before = 0;
  for (const value of values) {
    if (!Number.isSafeInteger(value - before)) return false;
    before = value;
  }
  return true;
}

/** @throws SegmentDamagedError for anything that `encodeHeads` did not write. */
export function decodeHeads(bytes: Buffer): FrameHead[] {
  const reader = new ByteReader(unpack(bytes));
  const count = reader.unsigned();
  // Every number takes a byte at least, so what is made here is bounded by what is there.
  if (count * COLUMNS.length > reader.left()) throw new SegmentDamagedError('it ends too early');
  const seqs = readColumn(reader, count);
  const positions = readColumn(reader, count);
  const attempts = readColumn(reader, count);
  const times = readColumn(reader, count);
  const widths = readColumn(reader, count);
  const heights = readColumn(reader, count);
  const objects = readColumn(reader, count);
  if (reader.left() > 0) throw new SegmentDamagedError('something follows the last frame');
  const heads: FrameHead[] = [];
  for (let at = 0; at < count; at += 1)
    heads.push({
      seq: seqs[at] ?? 0,
      position: positions[at] ?? 0,
      attempt: attempts[at] ?? 0,
      frameTimeMs: times[at] ?? 0,
      width: widths[at] ?? 0,
      height: heights[at] ?? 0,
      objects: objects[at] ?? 0,
    });
  return heads;
}

export function readColumn(reader: ByteReader, count: number): number[] {
  const addsUp = reader.byte() === DIFFERENCES;
  const values: number[] = [];
  let before = 0;
  for (let at = 0; at < count; at += 1) {
    before = reader.signed() + (addsUp ? before : 0);
    values.push(before);
  }
  return values;
}
