/** A stored segment that cannot be read: it was damaged, or no release of ours wrote it. */
export class SegmentDamagedError extends Error {
  override readonly name = 'SegmentDamagedError';
}

const SIGN = 0x40;
const MORE = 0x80;

/** Writes whole numbers in as few bytes as they need; grows as it is filled. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(256);
  #length = 0;

  byte(value: number): void {
    if (this.#length === this.#buffer.length) this.#grow(1);
    this.#buffer[this.#length] = value;
    this.#length += 1;
  }

  /** 0 to 2^53 - 1, seven bits a byte. */
  unsigned(value: number): void {
    let rest = value;
    while (rest >= MORE) {
      this.byte((rest % MORE) | MORE);
      rest = Math.floor(rest / MORE);
    }
    this.byte(rest);
  }

  /** Any whole number whose size is at most 2^53 - 1: sign and six bits first, then seven bits a byte. */
  signed(value: number): void {
    const size = Math.abs(value);
    const first = (size % SIGN) | (value < 0 ? SIGN : 0);
    if (size < SIGN) {
      this.byte(first);
      return;
    }
    this.byte(first | MORE);
    this.unsigned(Math.floor(size / SIGN));
  }

  bytes(value: Uint8Array): void {
    if (this.#length + value.length > this.#buffer.length) this.#grow(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  /** With its length before it. */
  block(value: Uint8Array): void {
    this.unsigned(value.length);
    this.bytes(value);
  }

  /** What was written; valid until the next write. */
  written(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(by: number): void {
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#length + by));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Reads what `ByteWriter` wrote. Every method throws SegmentDamagedError when there is nothing of that form. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new SegmentDamagedError('it ends too early');
    this.#at += 1;
    return value;
  }

  unsigned(): number {
    let value = this.byte();
    if (value < MORE) return value;
    value -= MORE;
    for (let factor = MORE; ; factor *= MORE) {
      const next = this.byte();
      value += (next % MORE) * factor;
      if (!Number.isSafeInteger(value)) throw new SegmentDamagedError('a number is too large');
      if (next < MORE) return value;
    }
  }

  signed(): number {
    const first = this.byte();
    const size = (first % SIGN) + (first >= MORE ? this.unsigned() * SIGN : 0);
    if (!Number.isSafeInteger(size)) throw new SegmentDamagedError('a number is too large');
    return (first & SIGN) === 0 ? size : -size;
  }

  /** With its length before it; not copied. */
  block(): Buffer {
    return this.bytes(this.unsigned());
  }

  /** So many bytes; not copied. */
  bytes(length: number): Buffer {
    const block = this.#bytes.subarray(this.#at, this.#at + length);
    if (block.length !== length) throw new SegmentDamagedError('it ends too early');
    this.#at += length;
    return block;
  }

  /** How many bytes are left. */
  left(): number {
    return this.#bytes.length - this.#at;
  }
}
