import { packedProfileMs, profileMs } from './colour-profile.ts';
import { ImageRefusedError } from './image-error.ts';
import type { Inspection } from './inspection.ts';
import { MAX_CHUNKS, MAX_PROFILE_BYTES } from './image-limits.ts';

const SIGNATURE_BYTES = 8;
/** Length and type before, checksum after the data (PNG specification, section 5.3). */
const FRAME_BYTES = 12;
const HEADER_BYTES = 13;
/** Nanoseconds for a pixel of 8 bits a sample; each of 16 bits, interlacing and a colour profile doubles it. */
const PIXEL_NS = 25;

/**
 * Size and cost of a PNG by its header, which has to come first and once.
 * @throws ImageRefusedError `not_decodable` for a missing or second header, too many chunks, or a colour profile
 * too large.
 */
export function inspectPng(bytes: Buffer): Inspection {
  let inspected: Inspection | undefined;
  let hasProfile = false;
  let profile = 0;
  let chunks = 0;
  for (let at = SIGNATURE_BYTES; at + FRAME_BYTES <= bytes.length; chunks += 1) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const isHeader = type === 'IHDR';
    if (chunks >= MAX_CHUNKS || isHeader !== (chunks === 0)) throw new ImageRefusedError('not_decodable');
    if (isHeader) {
      if (length !== HEADER_BYTES || at + FRAME_BYTES + length > bytes.length)
        throw new ImageRefusedError('not_decodable');
      inspected = inspectHeader(bytes.subarray(at + 8));
    }
    if (type === 'iCCP' && length > MAX_PROFILE_BYTES) throw new ImageRefusedError('not_decodable');
    if (type === 'iCCP') {
      // Of several a decoder takes one; which one depends on what is broken in the others.
      profile = hasProfile ? profileMs(Infinity) : packedProfileMs(bytes.subarray(at + 8, at + 8 + length));
      hasProfile = true;
    }
    if (type === 'IEND') break;
    at += FRAME_BYTES + length;
  }
  if (!inspected) throw new ImageRefusedError('not_decodable');
  return hasProfile ? { ...inspected, expectedMs: 2 * inspected.expectedMs + profile } : inspected;
}

function inspectHeader(header: Buffer): Inspection {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const isDeep = header[8] === 16;
  const isInterlaced = header[12] !== 0;
  const pixelNs = PIXEL_NS * (isDeep ? 2 : 1) * (isInterlaced ? 2 : 1);
  return { width, height, expectedMs: (width * height * pixelNs) / 1e6 };
}
