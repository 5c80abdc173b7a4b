import type { ImageSize } from '@vision/contracts/detection';
import { profileMs } from './colour-profile.ts';
import { ImageRefusedError } from './image-error.ts';
import type { Inspection } from './inspection.ts';
import { MAX_CHUNKS, MAX_FRAMES } from './image-limits.ts';

const CONTAINER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** Milliseconds for a MiB of a lossy image; nanoseconds for a pixel of a lossless one, twice with a profile. */
const MS_PER_MIB = 70;
const PIXEL_NS = 25;

/**
 * Size and cost of a WebP by its first chunk (RFC 9649, section 2): simple lossy, simple lossless, or extended, which
 * may hold an animation. A canvas that its frames do not fill still has to be made, so the declared one counts.
 * @throws ImageRefusedError `not_decodable`.
 */
export function inspectWebp(bytes: Buffer): Inspection {
  const { width, height } = sizeOfFirst(bytes);
  let hasProfile = false;
  let profileBytes = 0;
  let chunks = 0;
  let frames = 0;
  for (let at = CONTAINER_BYTES; at + CHUNK_HEADER_BYTES <= bytes.length;) {
    chunks += 1;
    const type = bytes.toString('latin1', at, at + 4);
    if (type === 'ANMF') frames += 1;
    if (chunks > MAX_CHUNKS || frames > MAX_FRAMES) throw new ImageRefusedError('not_decodable');
    const length = bytes.readUInt32LE(at + 4);
    if (type === 'ICCP') {
      hasProfile = true;
      profileBytes += length;
    }
    // Chunks are padded to an even length.
    at += CHUNK_HEADER_BYTES + length + (length % 2);
  }
  const pixelNs = PIXEL_NS * (hasProfile ? 2 : 1);
  const pixelsMs = (bytes.length / 2 ** 20) * MS_PER_MIB + (width * height * pixelNs) / 1e6;
  return { width, height, expectedMs: pixelsMs + profileMs(profileBytes) };
}

function sizeOfFirst(bytes: Buffer): ImageSize {
  const data = CONTAINER_BYTES + CHUNK_HEADER_BYTES;
  if (bytes.length < data + 10) throw new ImageRefusedError('not_decodable');
  switch (bytes.toString('latin1', CONTAINER_BYTES, CONTAINER_BYTES + 4)) {
    case 'VP8 ':
      // Behind a frame tag of three bytes and a start code of three; the upper two bits are a scale.
      return { width: bytes.readUInt16LE(data + 6) & 0x3fff, height: bytes.readUInt16LE(data + 8) & 0x3fff };
    case 'VP8L': {
      const packed = bytes.readUInt32LE(data + 1);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(data + 4, 3) + 1, height: bytes.readUIntLE(data + 7, 3) + 1 };
    default:
      throw new ImageRefusedError('not_decodable');
  }
}
