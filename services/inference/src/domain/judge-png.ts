import type { ImageSize } from '@vision/shared/contracts/detection';
import { ImageRefusedError } from './image-error.ts';
import { MAX_CHUNKS, MAX_PROFILE_BYTES } from './picture-limits.ts';

const SIGNATURE_BYTES = 8;
/** Length and type before, checksum after the data (PNG specification, section 5.3). */
const FRAME_BYTES = 12;
const HEADER_BYTES = 13;

/**
 * Size of a PNG by its header, which has to come first and once.
 * @throws ImageRefusedError `not_decodable` for a missing or second header, too many chunks, or a colour profile
 * too large.
 */
export function judgePng(bytes: Buffer): ImageSize {
  let size: ImageSize | undefined;
  let chunks = 0;
  for (let at = SIGNATURE_BYTES; at + FRAME_BYTES <= bytes.length; chunks += 1) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const isHeader = type === 'IHDR';
    if (chunks >= MAX_CHUNKS || isHeader !== (chunks === 0)) throw new ImageRefusedError('not_decodable');
    if (isHeader) {
      if (length !== HEADER_BYTES || at + FRAME_BYTES + length > bytes.length)
        throw new ImageRefusedError('not_decodable');
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    }
    if (type === 'iCCP' && length > MAX_PROFILE_BYTES) throw new ImageRefusedError('not_decodable');
    if (type === 'IEND') break;
    at += FRAME_BYTES + length;
  }
  if (!size) throw new ImageRefusedError('not_decodable');
  return size;
}
