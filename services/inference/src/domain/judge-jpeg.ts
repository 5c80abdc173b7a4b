import type { ImageSize } from '@vision/shared/contracts/detection';
import { ImageRefusedError } from './image-error.ts';
import { MAX_SCANS } from './picture-limits.ts';

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** Frame headers C0 to CF but for the tables C4 and CC and the reserved C8. */
const isFrameHeader = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
/** Markers without a length: TEM, RST0 to RST7, SOI. */
const standsAlone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/**
 * Size of a JPEG by its one frame header (ITU-T T.81, annex B), after counting its scans.
 * @throws ImageRefusedError `not_decodable` for more than one frame, more than 100 scans, or no frame at all.
 */
export function judgeJpeg(bytes: Buffer): ImageSize {
  let size: ImageSize | undefined;
  let scans = 0;
  for (let at = 2; at < bytes.length;) {
    const marker = bytes[at + 1];
    if (bytes[at] !== 0xff || marker === undefined) break;
    // Any number of FF may stand before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === END_OF_IMAGE) break;
    if (standsAlone(marker)) {
      at += 2;
      continue;
    }
    if (at + 4 > bytes.length) break;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    if (isFrameHeader(marker)) {
      if (size || at + 9 > bytes.length) throw new ImageRefusedError('not_decodable');
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    if (marker === START_OF_SCAN) scans += 1;
    if (scans > MAX_SCANS) throw new ImageRefusedError('not_decodable');
    at = marker === START_OF_SCAN ? endOfScan(bytes, end) : end;
  }
  if (!size) throw new ImageRefusedError('not_decodable');
  return size;
}

/** Where the next marker begins that is neither a stuffed FF 00 nor a restart. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1];
    if (next === undefined) break;
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}
