import { SourceError } from '@vision/streams/source-error';
import { MAX_UNITS } from '../video/nal-units.ts';
import type { NalCodec } from '../video/nal-units.ts';
import type { Depacketizer } from './depacketizer.ts';

interface Format {
  /** Bytes before the content of a unit, which every payload begins with too. */
  headerBytes: number;
  typeOf: (payload: Buffer) => number;
  aggregation: number;
  fragment: number;
  /** Types at and above this one that are no units and known here are an error or left out. */
  firstSpecial: number;
  unsupported: ReadonlySet<number>;
  /** The header of the unit that a fragment belongs to. */
  restoredHeader: (payload: Buffer, type: number) => Buffer;
  fragmentType: (header: number) => number;
}

/** RFC 6184: 1–23 units, 24 STAP-A, 28 FU-A; 25–27 and 29 belong to the interleaved mode. */
const H264: Format = {
  headerBytes: 1,
  typeOf: (payload) => (payload[0] ?? 0) & 0x1f,
  aggregation: 24,
  fragment: 28,
  firstSpecial: 24,
  unsupported: new Set([25, 26, 27, 29]),
  restoredHeader: (payload, type) => Buffer.from([((payload[0] ?? 0) & 0xe0) | type]),
  fragmentType: (header) => header & 0x1f,
};

/** RFC 7798 without decoding order numbers: 0–47 units, 48 AP, 49 FU; 50 (PACI) is not in use. */
const H265: Format = {
  headerBytes: 2,
  typeOf: (payload) => ((payload[0] ?? 0) >> 1) & 0x3f,
  aggregation: 48,
  fragment: 49,
  firstSpecial: 48,
  unsupported: new Set([50]),
  restoredHeader: (payload, type) => Buffer.from([((payload[0] ?? 0) & 0x81) | (type << 1), payload[1] ?? 0]),
  fragmentType: (header) => header & 0x3f,
};

/**
 * NAL units out of RTP payloads of H.264 or H.265.
 *
 * Own code, because what npm has does not hold against a hostile sender or does not know the codec: `werift-rtp` 0.8.9
 * reads H.264 only, copies all earlier fragments at each new one and takes a fragment without a beginning;
 * `yellowstone` 2.1.0 as published has no depacketizers; `media-stream-library` 13.1.1 keeps them behind its own
 * sockets and has none for H.265.
 */
export function createNalDepacketizer(codec: NalCodec, onUnits: (count: number) => void): Depacketizer {
  const format = codec === 'h264' ? H264 : H265;
  let units: Buffer[] = [];
  let fragments: Buffer[] | undefined;

  const addFragment = (payload: Buffer): boolean => {
    const header = payload[format.headerBytes] ?? 0;
    const content = payload.subarray(format.headerBytes + 1);
    const isStart = (header & 0x80) !== 0;
    if (isStart === (fragments !== undefined) || content.length === 0) return false;
    fragments ??= [format.restoredHeader(payload, format.fragmentType(header))];
    fragments.push(content);
    if ((header & 0x40) === 0) return true;
    units.push(Buffer.concat(fragments));
    fragments = undefined;
    return true;
  };

  const add = (payload: Buffer): boolean => {
    if (payload.length <= format.headerBytes) return false;
    const type = format.typeOf(payload);
    if (format.unsupported.has(type)) throw new SourceError('codec_unsupported');
    if (type === format.fragment) return addFragment(payload);
    if (fragments !== undefined) return false;
    if (type === format.aggregation) {
      const inner = divide(payload.subarray(format.headerBytes), MAX_UNITS - units.length);
      onUnits(inner.units.length);
      if (inner.isWhole) units.push(...inner.units);
      return inner.isWhole;
    }
    if (units.length >= MAX_UNITS) return false;
    // Reserved numbers are to be ignored.
    if (type < format.firstSpecial) units.push(payload);
    return true;
  };

  return {
    add,
    take: () => {
      const whole = fragments === undefined ? units : undefined;
      units = [];
      fragments = undefined;
      return whole;
    },
  };
}

/** The units of an aggregation, each after its length; not whole when they are too many or lead beyond the end. */
function divide(bytes: Buffer, most: number): { units: Buffer[]; isWhole: boolean } {
  const units: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = at + 2 <= bytes.length ? bytes.readUInt16BE(at) : 0;
    if (length === 0 || at + 2 + length > bytes.length || units.length >= most) return { units, isWhole: false };
    units.push(bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return { units, isWhole: true };
}
