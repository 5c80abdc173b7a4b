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

const COLUMNS = ['seq', 'position', 'attempt', 'frameTimeMs', 'width', 'height', 'objects'] as const;

/** Numbers are stored as what they are larger than the one before, or as they are. */
const DIFFERENCES = 0;
const VALUES = 1;

/** The heads of the frames of one segment as bytes, column by column; about two bytes a frame. */
export function encodeHeads(heads: readonly FrameHead[], effort: Effort): Buffer {
  const out = new ByteWriter();
  out.unsigned(heads.length);
  for (const column of COLUMNS) {
    const areExact = haveDifferences(heads, column);
    out.byte(areExact ? DIFFERENCES : VALUES);
    let before = 0;
    for (const { [column]: value } of heads) {
      out.signed(value - before);
      if (areExact) before = value;
    }
  }
  return pack(out.written(), effort);
}

/** Whether every number differs from the one before by a number that is exact. */
function haveDifferences(heads: readonly FrameHead[], column: keyof FrameHead): boolean {
  let before = 0;
  for (const { [column]: value } of heads) {
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
  const heads = Array.from({ length: count }, (): FrameHead => ({
    seq: 0,
    position: 0,
    attempt: 0,
    frameTimeMs: 0,
    width: 0,
    height: 0,
    objects: 0,
  }));
  for (const column of COLUMNS) {
    const addsUp = reader.byte() === DIFFERENCES;
    let before = 0;
    for (const head of heads) {
      before = reader.signed() + (addsUp ? before : 0);
      head[column] = before;
    }
  }
  if (reader.left() > 0) throw new SegmentDamagedError('something follows the last frame');
  return heads;
}
