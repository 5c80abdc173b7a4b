import type { ByteWriter } from './bytes.ts';
import { ByteReader, SegmentDamagedError } from './bytes.ts';

/** Maximum number of bytes above the lowest byte of a 32-bit number. */
const MOST_HIGH_BYTES = 4;

/**
 * Whole numbers near 0, of any sign. Their lowest and their higher bytes are stored separately: the noise of a box is
 * in the former, and the latter are nearly all the same, which compresses to almost nothing.
 */
export class NumberColumn {
  readonly #low: Uint8Array;
  readonly #high: Uint8Array;
  #count = 0;
  #highLength = 0;

  /** Takes `count` numbers of at most 30 bits and a sign. */
  constructor(count: number) {
    // From the pool: most segments have a few objects, and a separate allocation takes longer than all their numbers.
    this.#low = Buffer.allocUnsafe(count);
    this.#high = Buffer.allocUnsafe(count * MOST_HIGH_BYTES);
  }

  add(value: number): void {
    const folded = fold(value);
    // Keeps the lowest byte.
    this.#low[this.#count] = folded;
    this.#count += 1;
    let high = folded >>> 8;
    while (high >= 0x80) {
      this.#high[this.#highLength] = high | 0x80;
      this.#highLength += 1;
      high >>>= 7;
    }
    this.#high[this.#highLength] = high;
    this.#highLength += 1;
  }

  writeTo(out: ByteWriter): void {
    out.block(this.#low.subarray(0, this.#count));
    out.block(this.#high.subarray(0, this.#highLength));
  }
}

/** A whole number of any sign as one that is not negative, small when that is near 0; at most 30 bits and a sign. */
export const fold = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;

/** The number of which `fold` made this one. */
export const unfold = (folded: number): number => (folded >>> 1) ^ -(folded & 1);

/** Fills `numbers` from a column of the same length; each number fits 32 bits. */
export function readNumbers(reader: ByteReader, numbers: Int32Array): Int32Array {
  const count = numbers.length;
  const low = reader.block();
  const high = reader.block();
  if (low.length !== count) throw new SegmentDamagedError('a column has another length');
  // Nearly every number has one higher byte.
  if (high.length === count && areShort(high)) {
    for (let at = 0; at < count; at += 1) numbers[at] = unfold((low[at] ?? 0) | ((high[at] ?? 0) << 8));
    return numbers;
  }
  const rest = new ByteReader(high);
  for (let at = 0; at < count; at += 1) numbers[at] = unfold((low[at] ?? 0) + 256 * rest.unsigned());
  return numbers;
}

/** Reads exactly `count` whole numbers that are not negative and nearly always below 128. */
export function readCodes(reader: ByteReader, count: number): Uint8Array | Float64Array {
  const block = reader.block();
  if (block.length < count) throw new SegmentDamagedError('a column has another length');
  if (block.length === count && areShort(block)) return block;
  const codes = new Float64Array(count);
  const rest = new ByteReader(block);
  for (let at = 0; at < count; at += 1) codes[at] = rest.unsigned();
  return codes;
}

function areShort(bytes: Uint8Array): boolean {
  let all = 0;
  for (let at = 0; at < bytes.length; at += 1) all |= bytes[at] ?? 0;
  return all < 0x80;
}

/** Values that a segment stores once and refers to by number: labels, tracks. */
export class Dictionary {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }
}

/** State of a track from frame to frame: its next object is predicted from its last one. */
export interface TrackState {
  label: number;
  /** Last frame with this track, and its index among the objects of that frame. */
  frame: number;
  place: number;
  a: number;
  b: number;
  c: number;
  d: number;
}

/** State of a track without objects so far. */
export const unseenTrack = (): TrackState => ({ label: -1, frame: -1, place: -1, a: 0, b: 0, c: 0, d: 0 });
