import { ByteReader, ByteWriter, SegmentDamagedError } from './bytes.ts';

/**
 * Whole numbers near 0, of any sign. The last eight bits of each and what is above them stand apart: the noise of a box
 * is in the former, and the latter are nearly all the same, which compresses to almost nothing.
 */
export class NumberColumn {
  readonly #low = new ByteWriter();
  readonly #high = new ByteWriter();

  add(value: number): void {
    const folded = value < 0 ? -2 * value - 1 : 2 * value;
    this.#low.byte(folded & 0xff);
    const high = Math.floor(folded / 256);
    if (high < 128) this.#high.byte(high);
    else this.#high.unsigned(high);
  }

  writeTo(out: ByteWriter): void {
    out.block(this.#low.written());
    out.block(this.#high.written());
  }
}

/** Reads a column of exactly `count` numbers, each of which fits 32 bits. */
export function readNumbers(reader: ByteReader, count: number): Int32Array {
  const low = reader.block();
  const high = reader.block();
  if (low.length !== count) throw new SegmentDamagedError('a column has another length');
  const numbers = new Int32Array(count);
  const rest = new ByteReader(high);
  // Nearly every number has one byte above.
  const isShort = high.length === count && high.every((byte) => byte < 128);
  for (let at = 0; at < count; at += 1) {
    const above = isShort ? (high[at] ?? 0) : rest.unsigned();
    const folded = (low[at] ?? 0) + 256 * above;
    numbers[at] = folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }
  return numbers;
}

/** What stands once in a segment and is named by its number: labels, tracks. */
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

/** What is remembered of a track from frame to frame: its next object is expected to be like its last one. */
export interface TrackState {
  label: number;
  /** Frame in which it was seen last, and its place among the objects of that frame. */
  frame: number;
  place: number;
  a: number;
  b: number;
  c: number;
  d: number;
}

/** A track that was not seen yet. */
export const unseenTrack = (): TrackState => ({ label: -1, frame: -1, place: -1, a: 0, b: 0, c: 0, d: 0 });
