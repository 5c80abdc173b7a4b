import { SourceError } from '@vision/streams/source-error';
import type { Depacketizer } from './depacketizer.ts';
import { jpegHeader, scaledTables } from './jpeg-header.ts';
import type { JpegShape } from './jpeg-header.ts';

const TABLE_BYTES = 64;
const END_OF_IMAGE = Buffer.from([0xff, 0xd9]);

/**
 * JPEG frames from RTP payloads (RFC 2435): packets carry only the compressed data, so the headers are built here from
 * a few fields. Own code: no maintained package was found that does this without sockets of its own.
 */
export function createJpegDepacketizer(): Depacketizer {
  // Tables may be sent once and be referenced by number afterwards.
  const known = new Map<number, Buffer[]>();
  let shape: JpegShape | undefined;
  let scans: Buffer[] = [];
  let size = 0;

  const begin = (fields: Fields): Buffer | undefined => {
    const { rest, q } = fields;
    const quantization = q >= 128 ? readTables(rest) : { tables: scaledTables(q), scan: rest };
    if (quantization && q >= 128 && q < 255 && quantization.tables.length > 0) known.set(q, quantization.tables);
    const tables = quantization?.tables.length ? quantization.tables : known.get(q);
    if (!quantization || !tables) return undefined;
    shape = { ...fields, tables };
    return quantization.scan;
  };

  return {
    add: (payload) => {
      const fields = readFields(payload);
      if (!fields || fields.offset !== size || (size === 0) !== (shape === undefined)) return false;
      const scan = fields.offset === 0 ? begin(fields) : fields.rest;
      if (!scan || scan.length === 0) return false;
      scans.push(scan);
      size += scan.length;
      return true;
    },
    take: () => {
      const [head, scan] = [shape && jpegHeader(shape), Buffer.concat(scans)];
      [shape, scans, size] = [undefined, [], 0];
      return head && [Buffer.concat([head, scan.subarray(0, scanLength(scan)), END_OF_IMAGE])];
    },
  };
}

interface Fields {
  offset: number;
  q: number;
  isHalfHeight: boolean;
  width: number;
  height: number;
  restartInterval: number;
  rest: Buffer;
}

/** The fixed fields (3.1) and the restart header (3.1.7); undefined when they are truncated or invalid. */
function readFields(payload: Buffer): Fields | undefined {
  const [specific = 0, , , , type = 0, q = 0, width = 0, height = 0] = payload;
  const hasRestarts = type >= 64;
  if (payload.length <= (hasRestarts ? 12 : 8)) return undefined;
  // Interlaced frames, types of other vendors, and frames larger than the 2040 pixels that the fields can express.
  if (specific !== 0 || (type & ~0x41) !== 0 || width === 0 || height === 0) throw new SourceError('codec_unsupported');
  if (q === 0 || (q > 99 && q < 128)) return undefined;
  return {
    offset: payload.readUIntBE(1, 3),
    q,
    isHalfHeight: (type & 1) === 1,
    width: width * 8,
    height: height * 8,
    restartInterval: hasRestarts ? payload.readUInt16BE(8) : 0,
    rest: payload.subarray(hasRestarts ? 12 : 8),
  };
}

/**
 * Quantisation tables before the first scan data (3.1.8): none when earlier ones apply, or one or two of 8 bits.
 */
function readTables(rest: Buffer): { tables: Buffer[]; scan: Buffer } | undefined {
  if (rest.length < 4) return undefined;
  const [, precision = 0] = rest;
  const length = rest.readUInt16BE(2);
  if (precision !== 0 || length > 2 * TABLE_BYTES || length % TABLE_BYTES !== 0 || rest.length < 4 + length) {
    return undefined;
  }
  const tables: Buffer[] = [];
  for (let at = 4; at < 4 + length; at += TABLE_BYTES) tables.push(Buffer.from(rest.subarray(at, at + TABLE_BYTES)));
  return { tables, scan: rest.subarray(4 + length) };
}

/** Length of the scan: it ends at the first marker that does not belong in one, so the data cannot add a header. */
function scanLength(scan: Buffer): number {
  for (let at = 1; at < scan.length; at += 1) {
    const byte = scan[at] ?? 0;
    // One pass over the bytes: a sender may make all of them look like markers.
    if (scan[at - 1] === 0xff && byte !== 0 && byte !== 0xff && (byte < 0xd0 || byte > 0xd7)) return at - 1;
  }
  return scan.at(-1) === 0xff ? scan.length - 1 : scan.length;
}
