import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { SegmentDamagedError } from './bytes.ts';

const FORMAT = 1;
const PLAIN = 0;
const ZSTD = 1;
const HEADER_BYTES = 10;

/** Nothing is unpacked that says that it is larger: about twenty times what a segment of usual frames has. */
export const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;

/** `fast`: written while frames arrive; `small`: kept; `open`: kept, and read by the thousand. */
const EFFORTS = {
  // Beginning to compress costs as much as a kilobyte that is stored for some minutes.
  fast: { level: 1, fromBytes: 1_024 },
  small: { level: 12, fromBytes: 64 },
  open: { level: 12, fromBytes: 1_024 },
};
export type Effort = keyof typeof EFFORTS;

/** Bytes with a header (format, length, checksum), compressed when that makes them smaller. */
export function pack(content: Buffer, effort: Effort): Buffer {
  if (content.length > MAX_UNPACKED_BYTES) throw new Error(`${content.length} bytes are too many for a segment`);
  const header = Buffer.alloc(HEADER_BYTES);
  const compressed = compress(content, effort);
  header.writeUInt8(FORMAT, 0);
  header.writeUInt8(compressed ? ZSTD : PLAIN, 1);
  header.writeUInt32BE(content.length, 2);
  header.writeUInt32BE(crc32(content), 6);
  return Buffer.concat([header, compressed ?? content]);
}

/** The bytes compressed; undefined when that does not make them smaller, or is not worth it. */
export function compress(content: Buffer, effort: Effort): Buffer | undefined {
  const { level, fromBytes } = EFFORTS[effort];
  if (content.length <= fromBytes) return undefined;
  const compressed = zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: level } });
  return compressed.length < content.length ? compressed : undefined;
}

/**
 * The bytes that were packed. Never takes more memory than the header says, nor than `MAX_UNPACKED_BYTES`.
 * @throws SegmentDamagedError for anything that `pack` did not write.
 */
export function unpack(packed: Buffer): Buffer {
  if (packed.length < HEADER_BYTES) throw new SegmentDamagedError('it ends too early');
  const [format, form] = [packed.readUInt8(0), packed.readUInt8(1)];
  const length = unpackedLength(packed);
  if (format !== FORMAT || form > ZSTD) throw new SegmentDamagedError(`its format is ${format}.${form}`);
  if (length > MAX_UNPACKED_BYTES) throw new SegmentDamagedError(`it says that it has ${length} bytes`);
  const payload = packed.subarray(HEADER_BYTES);
  const content = form === PLAIN ? payload : decompress(payload, length);
  if (content.length !== length || crc32(content) !== checksumOf(packed))
    throw new SegmentDamagedError('its checksum is wrong');
  return content;
}

/** The checksum in the header of packed bytes. */
export const checksumOf = (packed: Buffer): number => packed.readUInt32BE(6);

/** What the index says about packed bytes. */
export interface PackedFacts {
  bytes: number;
  checksum: number;
}

/**
 * Unpacks the bytes to compare them with their checksum and with the index.
 * @throws SegmentDamagedError when they differ.
 */
export function assertIntact(packed: Buffer, facts: PackedFacts): void {
  assertNamed(packed, facts);
  unpack(packed);
}

/**
 * Compares the header of packed bytes with the index; `unpack` compares the bytes with the header.
 * @throws SegmentDamagedError when they differ.
 */
export function assertNamed(packed: Buffer, { bytes, checksum }: PackedFacts): void {
  if (packed.length !== bytes) throw new SegmentDamagedError(`it has ${packed.length} bytes and not ${bytes}`);
  if (checksumOf(packed) !== checksum) throw new SegmentDamagedError('it is not what the index says');
}

/** How many bytes there are when they are unpacked, as the header says. */
export const unpackedLength = (packed: Buffer): number => packed.readUInt32BE(2);

/** How many bytes there are when so many are packed without compression. */
export const packedLength = (bytes: number): number => HEADER_BYTES + bytes;

/** What was compressed, of at most so many bytes. @throws SegmentDamagedError for anything else or longer */
export function decompress(payload: Buffer, length: number): Buffer {
  try {
    return zstdDecompressSync(payload, { maxOutputLength: Math.max(1, length) });
  } catch (error) {
    throw new SegmentDamagedError('it cannot be decompressed', { cause: error });
  }
}
