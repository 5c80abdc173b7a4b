import type { ImageSize } from '@vision/shared/contracts/detection';
import { ImageRefusedError } from './image-error.ts';
import { MAX_CHUNKS, MAX_FRAMES } from './picture-limits.ts';

const CONTAINER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;

/**
 * Size of a WebP by its first chunk (RFC 9649, section 2): simple lossy, simple lossless, or extended, which may hold
 * an animation. A canvas that its frames do not fill still has to be made, so the declared one counts.
 * @throws ImageRefusedError `not_decodable`.
 */
export function judgeWebp(bytes: Buffer): ImageSize {
  const size = sizeOfFirst(bytes);
  let chunks = 0;
  let frames = 0;
  for (let at = CONTAINER_BYTES; at + CHUNK_HEADER_BYTES <= bytes.length;) {
    chunks += 1;
    if (bytes.toString('latin1', at, at + 4) === 'ANMF') frames += 1;
    if (chunks > MAX_CHUNKS || frames > MAX_FRAMES) throw new ImageRefusedError('not_decodable');
    const length = bytes.readUInt32LE(at + 4);
    // Chunks are padded to an even length.
    at += CHUNK_HEADER_BYTES + length + (length % 2);
  }
  return size;
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
